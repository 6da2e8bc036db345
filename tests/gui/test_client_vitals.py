"""What the window shows of the client machines."""

from __future__ import annotations

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.live.host_panel import HostPanel
from tests.gui.windows import says
from tests.synthetic import session
from workbench.documents import ClientPart, HostSample, MachineRecord, PointStop, RunStart
from workbench.messages import notes

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_each_client_reports_its_load_and_lateness(qtbot: QtBot) -> None:
    documents = session(1, 1, seconds=1.0)
    (start,) = [d for d in documents if isinstance(d, RunStart)]
    stop = next(d for d in documents if isinstance(d, PointStop))
    roles = {"atlas": ["target"], "bolt": ["client"], "cedar": ["client"]}
    machines = [MachineRecord(name=name, roles=each) for name, each in roles.items()]
    shown = HostPanel()
    qtbot.addWidget(shown)
    shown.resize(330, 400)
    shown.show()
    shown(start)
    shown.refresh()
    assert not says(shown, "Clients"), "this computer alone offers the load"
    shown(msgspec.structs.replace(start, machines=machines))
    parts = [
        ClientPart(machine="bolt", scheduled=50, sent=50, late=1_234),
        ClientPart(machine="cedar", scheduled=50, sent=43, unsent=7),
    ]
    shown(msgspec.structs.replace(stop, clients=parts))
    for name, cpu in (("atlas", 99.0), ("bolt", 12.0), ("cedar", 34.0)):
        shown(HostSample(t_us=1, machine=name, host_cpu_pct=cpu))
    shown.refresh()
    qtbot.waitUntil(lambda: says(shown, "bolt: CPU 12 %, late 1,234, unsent 0"))
    assert says(shown, "cedar: CPU 34 %, late 0, unsent 7")
    assert not says(shown, "atlas: CPU")
    shown(notes.notice("client-lost", clients=["cedar"], left=1).note(2))
    shown.refresh()
    assert says(shown, "cedar: CPU gone, late –, unsent –")
    shown(notes.notice("client-back", clients=["cedar"], left=2).note(3))
    shown.refresh()
    assert says(shown, "cedar: CPU 34 %")
