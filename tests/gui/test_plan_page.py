"""A plan written in the window: presets, fields, faults in words, what it will do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QApplication, QInputDialog, QMessageBox
from pytestqt.qtbot import QtBot

from app import theme
from app.machines.consent import ConsentDialog
from app.pages.plan import PlanPage
from app.planning.preset_list import two_lines
from app.planning.tags import Tag
from app.settings import Settings
from app.shell.main_window import MainWindow
from tests.gui.windows import PATIENCE_MS, control, name_of, press, says, shown
from tests.synthetic import session
from workbench import paths, presets
from workbench.documents import Note
from workbench.plans import GiveUp, Plan, Range, WarmUp, Workload, load_plan
from workbench.sessions import Recorder, read_session

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

SHORT = Plan(
    name="Short",
    servers=["asyncio-streams", "gevent"],
    rates=[200.0, 400.0],
    seconds=1.0,
    calibrate=False,
    warm_up=None,
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def settings() -> Settings:
    return Settings()


@pytest.fixture
def window(qtbot: QtBot, settings: Settings) -> Iterator[MainWindow]:
    with shown(qtbot, settings) as made:
        made.resize(1280, 800)
        made.show_page("Plan")
        yield made


@pytest.fixture
def page(qtbot: QtBot, window: MainWindow) -> PlanPage:
    found = window.page("Plan")
    assert isinstance(found, PlanPage)
    judged(qtbot, found)
    return found


def judged(qtbot: QtBot, page: PlanPage) -> None:
    """Wait until what is in the form has been looked at."""
    qtbot.waitUntil(lambda: page._current and page._draft is not None, timeout=PATIENCE_MS)


def edit(qtbot: QtBot, page: PlanPage, plan: Plan) -> None:
    page.edit(plan)
    judged(qtbot, page)


def write(qtbot: QtBot, page: PlanPage, field: object, text: str) -> None:
    """As a person types."""
    field.selectAll()  # type: ignore[attr-defined]
    qtbot.keyClicks(field, text) if text else qtbot.keyClick(field, Qt.Key.Key_Delete)
    judged(qtbot, page)


def wanted(qtbot: QtBot, window: MainWindow, do: Callable[[], object]) -> Plan:
    """The plan that is asked to run; it does not begin."""
    window.desk.run_wanted.disconnect(window.run)
    with qtbot.waitSignal(window.desk.run_wanted, timeout=PATIENCE_MS) as asked:
        do()
    plan = asked.args[0]
    assert isinstance(plan, Plan)
    return plan


def test_it_begins_with_a_plan_that_can_run(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    assert says(page, "Ready to run")
    assert says(page, "one sweep of 7")
    assert says(page, "1,000 to 22,000")
    plan = wanted(qtbot, window, lambda: press(window, "Run"))
    assert plan == load_plan("demo")


def test_every_preset_is_shown_with_what_it_is_for_and_comes_back_as_it_was(
    qtbot: QtBot, page: PlanPage
) -> None:
    listed = page.gallery.list
    shipped = presets.presets()
    assert len(shipped) >= 6
    for preset in shipped:
        assert preset.plan is not None
        (item,) = [
            item for n in range(listed.count()) if (item := listed.item(n)).text() == preset.name
        ]
        assert item.toolTip() == preset.plan.description
        listed.itemClicked.emit(item)
        judged(qtbot, page)
        assert page._draft is not None
        assert page._draft.plan == preset.plan


@pytest.mark.parametrize(
    "plan",
    [
        SHORT,
        Plan(
            name="Everything",
            description="two\nlines",
            servers=["gevent", "asyncio-streams"],
            workload=Workload(timeout_s=0.5, arrivals="poisson", path="/x"),
            rate_of="connections",
            rates=Range(from_=100, to=1000, step=50),
            connections=500,
            lengthen=True,
            warm_up=WarmUp(rate_per_s=50, seconds=0.5),
            cool_down_s=1.5,
            repeats=3,
            looks=1,
            order="interleaved",
            seed=20091222,
            backlog=500,
            nofile=10_000,
            workers=2,
            give_up=GiveUp(after_points=5, success_below_pct=20),
            calibrate=False,
        ),
        Plan(
            name="Closed",
            servers=["gevent"],
            workload=Workload(mode="closed"),
            concurrency=[1, 25],
            seconds=2,
            give_up=None,
        ),
    ],
    ids=["short", "everything", "closed"],
)
def test_the_form_holds_everything_a_plan_can_say(
    qtbot: QtBot, window: MainWindow, page: PlanPage, plan: Plan
) -> None:
    edit(qtbot, page, plan)
    assert wanted(qtbot, window, page.run_this) == plan


def test_a_plan_without_a_title_runs_as_untitled_and_keeps_every_digit(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(
        qtbot,
        page,
        Plan(servers=["gevent"], rates=[1234.567891, 98765.432109], seconds=1.25, calibrate=False),
    )
    plan = wanted(qtbot, window, page.run_this)
    assert plan.name == "Untitled"
    assert plan.rates == [1234.567891, 98765.432109]


def test_what_is_typed_shows_at_once_in_what_the_plan_will_do(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    assert page.outlook.preview._figures["Points"].text() == "4"
    write(qtbot, page, page.form._list, "200, 400, 800")
    assert page.outlook.preview._figures["Points"].text() == "6"
    assert page.outlook.preview._figures["Connections"].text() == "2,800"
    assert says(page, "amber: too few for a steady p99")
    assert says(page, "3 rates")


def test_rates_are_written_and_read_with_thousands_commas_and_are_all_in_sight(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    rates = page.form._list
    rates.setFocus()
    write(qtbot, page, rates, "1,000, 2,000 4000 8,000 16000, 32,000.5, 40000, 50000")
    assert says(page, "8 rates, 1,000 to 50,000/s")
    page.form.name.setFocus()
    assert rates.text().split() == [
        "1,000", "2,000", "4,000", "8,000", "16,000", "32,000.5", "40,000", "50,000",
    ]  # fmt: skip
    bars = rates.horizontalScrollBar(), rates.verticalScrollBar()
    assert [bar.maximum() for bar in bars] == [0, 0]


def test_a_field_that_is_left_shows_its_beginning(qtbot: QtBot, page: PlanPage) -> None:
    name = page.form.name
    name.setFocus()
    write(qtbot, page, name, "A title that is longer than its field " * 4)
    page.form.description.setFocus()
    assert name.cursorPosition() == 0


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("_list", "400, 200", "200 comes after 400; list them rising, each once."),
        ("_list", "fast", "Expected a number, got 'fast'."),
        ("_list", "", "None is given; give a list, or from, to and step."),
        ("_length", "0.5", "At 200/s a point lasts 0.5 s: too short to judge"),
        ("_length", "", "Neither is given; give exactly one of the two."),
        ("_timeout", "0", "Expected a number above 0, got 0."),
        ("_repeats", "1,5", "Expected a whole number, got '1,5'."),
    ],
)
def test_what_makes_no_sense_is_told_beside_its_field_and_cannot_run(
    qtbot: QtBot, page: PlanPage, field: str, text: str, said: str
) -> None:
    edit(qtbot, page, SHORT)
    input_ = getattr(page.form, field)
    write(qtbot, page, input_, text)
    (line,) = [each for each in {*page.form._lines.values()} if said in each.note]
    assert line.isAncestorOf(input_)
    assert line.tone == "bad"
    assert input_.property("tone") == "bad"
    assert not control(page, "Run").isEnabled()
    assert said.casefold() in control(page, "Run").toolTip().casefold()
    assert says(page, "1 thing to mend before it can run")


def test_the_key_that_runs_a_plan_says_why_it_does_not_run_until_that_is_mended(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    write(qtbot, page, page.form._repeats, "0")
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    why = "It cannot run yet. Passes: expected a whole number of at least 1, got 0."
    qtbot.waitUntil(lambda: says(page, why), timeout=PATIENCE_MS)
    write(qtbot, page, page.form._repeats, "1")
    assert not says(page, "It cannot run yet.")
    assert not window.desk.busy


def test_a_fault_among_the_rare_fields_opens_them(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    backlog = page.form.more.inputs["backlog"]
    assert not backlog.isVisible()
    page.edit(Plan(servers=["gevent"], rates=[500], seconds=1, workload=Workload(pipeline=3)))
    qtbot.waitUntil(lambda: says(page, "3 calls at once need as many"), timeout=PATIENCE_MS)
    assert backlog.isVisible()


def test_a_warning_is_told_but_keeps_nothing_from_running(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    assert says(page, "1 warning")
    qtbot.waitUntil(lambda: says(page, "too few for a steady p99."), timeout=PATIENCE_MS)
    assert control(window, "Run").isEnabled()


def test_servers_are_found_ticked_moved_and_left_out_by_keys(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    servers = page.form.servers
    press(page, "Add or remove")
    search = servers.picker.search
    qtbot.waitUntil(search.hasFocus, timeout=PATIENCE_MS)
    qtbot.keyClicks(search, "torn sock")
    qtbot.keyClick(search, Qt.Key.Key_Return)
    assert servers.value() == ["asyncio-streams", "gevent", "tornado"]
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert not servers.picker.isVisible()
    last = servers.tags.findChildren(Tag)[2]
    last.setFocus()
    qtbot.keyClick(last, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert servers.value() == ["asyncio-streams", "tornado", "gevent"]
    first = servers.tags.findChildren(Tag)[0]
    qtbot.keyClick(first, Qt.Key.Key_Delete)
    assert servers.value() == ["tornado", "gevent"]


def test_servers_that_do_not_speak_the_protocol_are_left_out_with_one_press(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(
        qtbot,
        page,
        Plan(
            servers=["gevent", "cheroot"],
            rates=[500],
            seconds=1,
            workload=Workload(protocol="http/1.1"),
        ),
    )
    assert says(page, "gevent speaks pong, not http/1.1.")
    press(page, "Leave it out")
    judged(qtbot, page)
    assert page.form.servers.value() == ["cheroot"]
    assert page._draft is not None
    assert page._draft.sound


def test_tab_goes_through_the_servers_before_the_load(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    met = []
    at = page.gallery.last
    while not met or met[-1] != "Rates per second":
        at = at.nextInFocusChain()
        if at.isVisible() and at.focusPolicy() & Qt.FocusPolicy.TabFocus:
            met.append(at.accessibleName())
    assert met[:3] == ["asyncio streams, number 1", "gevent, number 2", "Add or remove"]


def test_while_a_run_is_under_way_no_other_begins_and_words_say_why(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    window.desk.set_busy(True)
    try:
        assert not control(window, "Run").isEnabled()
        assert says(page, "A run is under way; this plan can begin when it is over.")
    finally:
        window.desk.set_busy(False)
    assert control(window, "Run").isEnabled()
    assert not says(page, "this plan can begin")


def test_a_plan_written_here_is_run_and_recorded(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    write(qtbot, page, page.form._list, "300")
    write(qtbot, page, page.form.name, "By hand")
    servers = page.form.servers
    servers._remove(1)
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.desk.busy, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not window.desk.busy, timeout=PATIENCE_MS)
    (path,) = (paths.data_dir() / "sessions").glob("*.pong.yaml")
    plan = read_session(path).start.plan
    assert (plan["name"], plan["rates"], plan["servers"]) == (
        "By hand",
        [300.0],
        ["asyncio-streams"],
    )


def test_a_plan_is_kept_under_a_name_renamed_and_deleted_after_a_question(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    press(page, "Save as…")
    dialog = page.findChild(QInputDialog)
    assert dialog is not None
    dialog.setTextValue("My evening")
    dialog.accept()
    own = paths.data_dir() / "plans"
    qtbot.waitUntil(lambda: page.gallery.own is not None, timeout=PATIENCE_MS)
    assert load_plan("my-evening").servers == SHORT.servers
    write(qtbot, page, page.form._list, "500")
    press(page, "Save")
    qtbot.waitUntil(lambda: load_plan("my-evening").rates_per_s == [500.0], timeout=PATIENCE_MS)
    press(page, "Rename…")
    dialog = page.findChildren(QInputDialog)[-1]
    dialog.setTextValue("My morning")
    dialog.accept()
    qtbot.waitUntil((own / "my-morning.yaml").exists, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: page.gallery.list.preset("my-morning") is not None, timeout=PATIENCE_MS)
    assert not (own / "my-evening.yaml").exists()
    press(page, "Delete…")
    (question,) = page.findChildren(QMessageBox)
    assert "Delete the plan My morning?" in question.text()
    assert question.defaultButton().text() == "Keep it"
    (gone,) = [b for b in question.buttons() if b.text() == "Delete it"]
    gone.click()
    qtbot.waitUntil(lambda: not list(own.glob("*")), timeout=PATIENCE_MS)
    assert page.form.servers.value() == SHORT.servers


def test_a_name_that_is_taken_is_refused_in_words(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    page.gallery.save(SHORT, "demo")
    qtbot.waitUntil(
        lambda: "comes with Pongbench named 'demo'" in page.gallery.error.text, timeout=PATIENCE_MS
    )


def test_what_was_changed_can_be_brought_back_after_another_was_taken(
    qtbot: QtBot, page: PlanPage
) -> None:
    write(qtbot, page, page.form._repeats, "7")
    assert says(page, "Socket ping-pong, changed")
    quick = page.gallery.list.preset("quick")
    page.gallery.list.taken.emit(quick)
    judged(qtbot, page)
    assert says(page, "Socket ping-pong made room, with what you changed in it.")
    press(page, "Bring it back")
    judged(qtbot, page)
    assert page.form._repeats.value() == 7
    assert page.gallery.list.marked == "demo"
    assert says(page, "Socket ping-pong, changed")


def test_the_file_is_shown_and_copied(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    press(page, "File")
    text = page.outlook._text.toPlainText
    qtbot.waitUntil(lambda: "rates: [200, 400]" in text(), timeout=PATIENCE_MS)
    press(page, "Copy")
    assert QGuiApplication.clipboard().text() == text() == presets.to_yaml(SHORT)


def drop(on: PlanPage | MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left, no = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier
    on.dropEvent(QDropEvent(QPointF(50, 50), copy, data, left, no.NoModifier))


def test_a_plan_file_is_dropped_in(qtbot: QtBot, page: PlanPage, tmp_path: Path) -> None:
    path = tmp_path / "dropped.yaml"
    path.write_text(presets.to_yaml(SHORT))
    drop(page, path)
    qtbot.waitUntil(lambda: page.form.servers.value() == SHORT.servers, timeout=PATIENCE_MS)


def test_a_plan_dropped_anywhere_in_the_window_is_shown_in_its_form(
    qtbot: QtBot, window: MainWindow, page: PlanPage, tmp_path: Path
) -> None:
    window.show_page("Start")
    path = tmp_path / "dropped.yaml"
    path.write_text(presets.to_yaml(SHORT))
    drop(window, path)
    qtbot.waitUntil(page.isVisible, timeout=PATIENCE_MS)
    assert page.form.servers.value() == SHORT.servers


def test_a_dropped_file_that_is_no_plan_is_refused_in_words(
    qtbot: QtBot, page: PlanPage, tmp_path: Path
) -> None:
    path = tmp_path / "dropped.yaml"
    path.write_text("servers: [gevent]\nspeed: 3\n")
    drop(page, path)
    qtbot.waitUntil(lambda: "there is no key 'speed'" in page.notice.text, timeout=PATIENCE_MS)
    assert page.notice.isVisible()


def test_a_dropped_session_is_opened(
    qtbot: QtBot, window: MainWindow, page: PlanPage, tmp_path: Path
) -> None:
    path = tmp_path / "lab.pong.yaml"
    recorder = Recorder(path)
    for document in session(2, 3):
        recorder(document)
    recorder.close()
    drop(page, path)
    qtbot.waitUntil(window.film.isVisible, timeout=PATIENCE_MS)


def test_what_is_in_the_form_is_there_at_the_next_start(qtbot: QtBot) -> None:
    kept = Settings()
    with shown(qtbot, kept) as window:
        window.show_page("Plan")
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        write(qtbot, page, page.form._length, "2.5")
    with shown(qtbot, kept) as window:
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        assert page.form._length.value() == 2.5
        assert page.gallery.list.marked == "demo"
        assert "changed" in page.head.subtitle.whole


def test_a_changed_plan_of_the_last_start_can_be_brought_back_when_another_comes_first(
    qtbot: QtBot,
) -> None:
    kept = Settings()
    with shown(qtbot, kept) as window:
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        window.show_page("Plan")
        write(qtbot, page, page.form._length, "2.5")
    with shown(qtbot, kept) as window:
        window.desk.plan_wanted.emit(SHORT)
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        assert page.form.servers.value() == SHORT.servers
        press(page, "Bring it back")
        judged(qtbot, page)
        assert page.form._length.value() == 2.5


def test_scrolling_the_form_changes_no_choice(qtbot: QtBot, page: PlanPage) -> None:
    order = page.form._order
    middle = QPointF(order.rect().center())
    turn = QWheelEvent(
        middle,
        order.mapToGlobal(middle),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(order, turn)
    assert order.value() == "sequential"


@pytest.mark.parametrize("kept", ["x", {"data": 3}, {"data": {"servers": 4, "rates": "?"}}])
def test_settings_edited_into_nonsense_do_not_keep_the_page_away(
    qtbot: QtBot, kept: object
) -> None:
    with shown(qtbot, Settings(more={"plan": kept})) as window:
        window.show_page("Plan")
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)


def test_in_a_narrow_window_the_presets_are_a_drawer(window: MainWindow, page: PlanPage) -> None:
    assert page.gallery.isVisible()
    window.resize(960, 620)
    assert not page.gallery.isVisible()
    press(page, "Presets")
    assert page.gallery.isVisible()
    press(page, "Presets")
    assert not page.gallery.isVisible()
    press(page, "Presets")
    page.gallery.list.taken.emit(page.gallery.list.preset("quick"))
    assert not page.gallery.isVisible()


def test_a_plan_runs_on_the_machines_chosen_by_their_role(qtbot: QtBot, home: Path) -> None:
    profiles = home / "config" / "profiles"
    profiles.mkdir(parents=True)
    # Reached without SSH, so that the test needs no other computer.
    (profiles / "bolt.yaml").write_text("name: bolt\nroles: [client]\n")
    with shown(qtbot) as window:
        window.show_page("Plan")
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        edit(qtbot, page, structs.replace(SHORT, servers=["asyncio-streams"], rates=[300.0]))
        machines = page.form.machines
        assert machines.target.count() == 1
        press(page, "bolt")
        press(page, "This computer")
        judged(qtbot, page)
        assert says(
            page, "What clients allow that were never checked is looked at when the run begins"
        )
        chosen = {"target": "localhost", "clients": ["bolt"], "tune": ""}
        assert window.desk.settings.more["plan"]["machines"] == chosen
        press(page, "Run")
        assert says(window.live, "on localhost, load from bolt")
        qtbot.waitUntil(lambda: not window.desk.busy, timeout=PATIENCE_MS)
        assert window.live.error.text == ""
        (path,) = (paths.data_dir() / "sessions").glob("*.pong.yaml")
        roles = {m.name: m.roles for m in read_session(path).start.machines}
        assert roles == {"localhost": ["target"], "bolt": ["client"]}


def test_what_a_check_found_of_a_client_is_what_the_plan_is_judged_by(
    qtbot: QtBot, home: Path
) -> None:
    profiles = home / "config" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "bolt.yaml").write_text("name: bolt\nroles: [client]\n")
    facts = {"sysctls": {"net.ipv4.ip_local_port_range": "20000 20999"}}
    checked = {"at": "2026-11-20T10:00:00+00:00", "kind": "ready", "found": {"facts": facts}}
    more = {
        "plan": {"machines": {"target": "localhost", "clients": ["bolt"]}},
        "machines": {"bolt": checked},
    }
    with shown(qtbot, Settings(more=more)) as window:
        window.show_page("Plan")
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        assert not says(page, "What clients allow that were never checked")
        kept_alive = Workload(protocol="http/1.1", calls_per_connection=10)
        edit(qtbot, page, structs.replace(SHORT, servers=["gevent-pywsgi"], workload=kept_alive))
        ports = page.outlook.preview.ports
        qtbot.waitUntil(
            lambda: ports.accessibleDescription().endswith("of 1,000"), timeout=PATIENCE_MS
        )


@pytest.fixture
def tunable(home: Path) -> Path:
    """The profile of this computer, which may be tuned; and a set of kernel settings."""
    mine = home / "data" / "tuning" / "mine.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("name: My own\nsettings: {net.ipv4.tcp_keepalive_time: 4321}\n")
    profile = home / "config" / "profiles" / "localhost.yaml"
    profile.parent.mkdir(parents=True)
    profile.write_text("name: localhost\nsudo: passwordless\ntuning: true\n")
    return profile


def keepalive() -> str:
    return Path("/proc/sys/net/ipv4/tcp_keepalive_time").read_text().strip()


def asked(qtbot: QtBot, window: MainWindow) -> ConsentDialog:
    def found() -> list[ConsentDialog]:
        return [each for each in window.findChildren(ConsentDialog) if each.isVisible()]

    qtbot.waitUntil(lambda: bool(found()), timeout=PATIENCE_MS)
    return found()[0]


def test_kernel_settings_are_chosen_where_a_profile_allows_them_and_previewed(
    qtbot: QtBot, tunable: Path
) -> None:
    before, allowed = keepalive(), tunable.read_text()
    tunable.write_text("name: localhost\n")
    with shown(qtbot) as window:
        window.show_page("Plan")
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        machines = page.form.machines
        assert not machines.tune_line.isVisibleTo(page)
        tunable.write_text(allowed)
        window.desk.machines_changed.emit()
        qtbot.waitUntil(lambda: machines.tune_line.isVisibleTo(page), timeout=PATIENCE_MS)
        assert [machines.tune.itemText(n) for n in range(machines.tune.count())] == [
            "Left as they are",
            "My own",
            "As in 2009 and 2010",
        ]
        machines.tune.setCurrentIndex(1)
        machines.tune.activated.emit(1)
        assert says(page, "This computer: not known yet. You are asked before anything is changed.")
        press(page, "Preview…")
        preview = asked(qtbot, window)
        for words in ("net.ipv4.tcp_keepalive_time", before, "4321"):
            assert says(preview, words)
        press(preview, "Close")
    assert keepalive() == before


def test_kernel_settings_are_changed_with_consent_only(qtbot: QtBot, tunable: Path) -> None:
    before = keepalive()
    chosen = {"target": "localhost", "clients": ["localhost"], "tune": "mine"}
    with shown(qtbot, Settings(more={"plan": {"machines": chosen}})) as window:
        window.show_page("Plan")
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        edit(qtbot, page, structs.replace(SHORT, servers=["asyncio-streams"], rates=[300.0]))
        press(page, "Run")
        question = asked(qtbot, window)
        focused = question.focusWidget()
        assert focused is not None
        assert name_of(focused) == "Run with settings as they are"
        press(question, "Show what is run there")
        assert says(question, "echo 4321 > /proc/sys/net/ipv4/tcp_keepalive_time")
        press(question, "Run with settings as they are")
        qtbot.waitUntil(lambda: not window.desk.busy, timeout=PATIENCE_MS)
        assert window.live.error.text == ""
        (path,) = (paths.data_dir() / "sessions").glob("*.pong.yaml")
        notes = [d for d in read_session(path).documents if isinstance(d, Note)]
        assert [note.text for note in notes if note.topic == "untuned"] == [
            "localhost is not tuned: whoever began the run left its settings as they are."
        ]
        window.show_page("Plan")
        judged(qtbot, page)
        press(page, "Run")
        press(asked(qtbot, window), "Do not run")
        qtbot.waitUntil(lambda: not window.desk.busy, timeout=PATIENCE_MS)
        assert "Nobody consented to changing kernel settings" in window.live.error.text
    assert keepalive() == before


def test_a_machine_that_is_gone_is_chosen_no_more(qtbot: QtBot) -> None:
    machines = {"target": "gone", "clients": ["gone"]}
    with shown(qtbot, Settings(more={"plan": {"machines": machines}})) as window:
        window.show_page("Plan")
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        assert page.form.machines.where is None
        assert control(window, "Run").isEnabled()


def test_without_a_client_nothing_can_run_and_words_say_so(qtbot: QtBot, home: Path) -> None:
    profiles = home / "config" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "bolt.yaml").write_text("name: bolt\nroles: [client]\n")
    with shown(qtbot) as window:
        window.show_page("Plan")
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        press(page, "This computer")
        judged(qtbot, page)
        assert says(page, "Tick at least one machine as a client.")
        assert not says(page, "What clients allow")
        assert not control(window, "Run").isEnabled()


def test_what_a_shipped_plan_is_for_is_told_whole_in_its_card() -> None:
    for preset in presets.presets():
        assert preset.plan is not None
        lines = two_lines(preset.plan.description, theme.font(12), 158)
        assert len(lines) <= 2
        assert preset.plan.description.startswith(" ".join(lines))


def test_a_description_without_a_pause_ends_in_an_ellipsis() -> None:
    lines = two_lines("many words " * 20, theme.font(12), 158)
    assert len(lines) == 2
    assert lines[1].endswith("…")


def test_a_damaged_profile_of_a_machine_is_told_of_with_a_way_there(
    qtbot: QtBot, window: MainWindow, page: PlanPage, home: Path
) -> None:
    (home / "config" / "profiles").mkdir(parents=True, exist_ok=True)
    damaged = home / "config" / "profiles" / "fir.yaml"
    damaged.write_text("name: fir\naddres: 1\n")
    window.desk.machines_changed.emit()
    qtbot.waitUntil(lambda: says(page, "The machine fir is left out."), timeout=PATIENCE_MS)
    press(page, "Show the machines")
    assert window.page("Machines").isVisible()


def test_a_server_that_cannot_be_read_is_told_of_at_the_first_visit(
    qtbot: QtBot, home: Path
) -> None:
    (home / "data" / "servers" / "one").mkdir(parents=True)
    with shown(qtbot) as window:
        window.show_page("Plan")
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        assert "server.yaml" in page.notice.text
        assert page.notice.isVisible()
