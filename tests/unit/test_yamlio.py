"""Small YAML files: their meaning, and the messages for unusable ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest

from workbench.config.yaml import convert, dumped, load_yaml, loads_yaml
from workbench.errors import BadInput


def load(text: str) -> object:
    return loads_yaml(text, name="demo.yaml", what="plan")


def complaint(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        load(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: 1\nb: [x, 2.5]", {"a": 1, "b": ["x", 2.5]}),
        ("from: 400\nto: 1e4\nstep: 1_000", {"from": 400, "to": 1e4, "step": 1000}),
        ("a: true\nb: yes\nc: ~\nd:", {"a": True, "b": "yes", "c": None, "d": None}),
        ("a: 2009-11-09\nb: 12:30\nc: 0755", {"a": "2009-11-09", "b": "12:30", "c": "0755"}),
        ("2009: x\ntrue: y\n<<: z", {"2009": "x", "true": "y", "<<": "z"}),
        ("a: '1'\nb: \"true\"\nc: |\n  x\n  y\n", {"a": "1", "b": "true", "c": "x\ny\n"}),
        ("a: .inf\nb: .nan\nc: 1e999", {"a": ".inf", "b": ".nan", "c": "1e999"}),
        ("just words", "just words"),
    ],
)
def test_words_and_figures_mean_what_they_look_like(text: str, data: object) -> None:
    assert load(text) == data


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "plan demo.yaml is empty."),
        ("# nothing\n", "plan demo.yaml is empty."),
        ("a: 1\nb: 2\na: 3", "plan demo.yaml, line 3, column 1: the key 'a' is given twice"),
        ("a: &x 1", "plan demo.yaml, line 1, column 4: &x is an anchor; remove it."),
        ("a: *x", "plan demo.yaml, line 1, column 4: *x is an alias;"),
        ("a: !!python/object:os.system x", "line 1, column 4: tag:yaml.org,2002:python"),
        ("[" * 100, "nested more than 32 deep"),
        ("{a: " * 100, "nested more than 32 deep"),
        ("- " * 100, "nested more than 32 deep"),
        ("[" * 1_000_000, "nested more than 32 deep"),
        ("- 1\n" * 60_000, "more than 50,000 values"),
        ("? [a]\n: b", "a key must be a word"),
        ("a: 1\n---\na: 2", "line 2, column 1: a second document begins here"),
        ("a:\n\t- b", "line 2, column 1: a tab is not allowed here"),
        ("a: b: c", "line 1, column 5: a colon is not allowed here; put the text into quotes"),
        ("b: 1\na: [1, 2", "the list begun with '[' of line 2 is still open here; put commas"),
        ("a: 'b", "the quotation mark of line 1 is never closed"),
        ("a: @b", "a value cannot begin with this character; put the value into quotes"),
        ("a:\n  - 1\n - 2", "line 3, column 2: the indentation of this line matches none"),
        ("a: 1\nb\nc: 2", "the line before has no colon; write 'key: value'"),
        ("a: \x00", "line 1: the character U+0000 is not allowed"),
    ],
)
def test_hostile_and_broken_yaml_gets_one_sentence_with_its_place(text: str, sentence: str) -> None:
    message = complaint(text)
    assert sentence in message
    assert "\n" not in message


def test_a_merge_bomb_is_refused_at_its_first_anchor() -> None:
    bomb = "a: &a {x: 1}\n" + "".join(f"b{i}: &b{i} [{'*a, ' * 9}*a]\n" for i in range(20))
    assert "line 1, column 4: &a is an anchor" in complaint(bomb)


def file_complaint(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        load_yaml(path, what="plan")
    return str(caught.value)


def test_a_file_with_a_byte_order_mark_and_windows_lines_is_read(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: Br\xc3\xb6tchen\r\nseed: 1\r\n")
    assert load_yaml(path, what="plan") == {"name": "Brötchen", "seed": 1}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("rates:\n\xa0 from: 1", "line 2, column 1: a no-break space (U+00A0)"),
        ("seconds:\xa03", "line 1, column 9: a no-break space (U+00A0)"),
        ("name: x\nseconds: 3\u202f\n", "line 2, column 11: a narrow no-break space (U+202F)"),
        ("seconds\xa0: 3", "line 1, column 8: a no-break space (U+00A0)"),
        ("a: 1\r\n-\u3000x", "line 2, column 2: an ideographic space (U+3000)"),
        ("name: one\u2028two: three", "line 1, column 10: a line separator (U+2028)"),
        ("a: 1\r# b\x85c: 2", "line 2, column 4: a line break (NEL) (U+0085)"),
        ("\ufeff\ufeffname: x", "line 1, column 1: a byte order mark (U+FEFF)"),
        ("name: wa\u200bitress", "line 1, column 9: a zero width space (U+200B)"),
        ("servers: [\u200dtornado]", "line 1, column 11: a zero width joiner (U+200D)"),
        ("servers: [tornado\u200e]", "line 1, column 18: a left-to-right mark (U+200E)"),
        ("name: x\n\u200fseconds: 3", "line 2, column 1: a right-to-left mark (U+200F)"),
        ("name: a\u202eb\u202c", "line 1, column 8: a right-to-left override (U+202E)"),
        ("name: a\u2066b", "line 1, column 8: a left-to-right isolate (U+2066)"),
    ],
)
def test_a_character_that_nobody_sees_is_named_with_its_place(
    tmp_path: Path, text: str, place: str
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_bytes(text.encode())
    assert f"{path}, {place} is not allowed; " in file_complaint(path)


def test_text_may_have_them_between_its_letters(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("# a\xa0\nname: 10\xa0ms, \N{WOMAN}\u200d\N{PERSONAL COMPUTER}", "utf-8")
    assert load_yaml(path, what="plan") == {
        "name": "10\xa0ms, \N{WOMAN}\u200d\N{PERSONAL COMPUTER}"
    }


@pytest.mark.parametrize(
    "text",
    [
        "\xa0a",
        "a\xa0: b",
        "a\u2028b",
        "a\u200b",
        "\n\xa0 b",
        "é\xa0",
        "a\u202eb",
        "a\u200f",
        "12e5",
        "1234567890123e12",
        "1_000",
        "0123",
    ],
)
def test_what_is_written_can_be_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(dumped({"name": text}), "utf-8")
    assert load_yaml(path, what="plan") == {"name": text}


def test_a_missing_file_and_a_directory_are_distinguished(tmp_path: Path) -> None:
    assert file_complaint(tmp_path / "x.yaml") == f"There is no plan file {tmp_path / 'x.yaml'}."
    assert file_complaint(tmp_path) == f"{tmp_path} is a directory; give a plan file."


def test_a_path_no_system_accepts_gives_one_sentence() -> None:
    assert "cannot be read" in file_complaint(Path("a\0b"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in file_complaint(tmp_path / "pipe")


def test_a_gigabyte_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    assert file_complaint(path).startswith(f"{path} has 1,024.0 MiB; a plan has at most 1 MiB.")


def test_text_in_another_encoding_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"a: 1\nb: Br\xf6tchen\n")
    assert file_complaint(path).endswith("line 2: this is not UTF-8 text; save the file as UTF-8.")


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    protocol: Literal["pong", "http"] = "pong"
    timeout_s: Annotated[float, msgspec.Meta(gt=0)] = 1.0


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    servers: list[Annotated[str, msgspec.Meta(min_length=1)]]
    workload: Inner = msgspec.field(default_factory=Inner)
    seconds: Annotated[float, msgspec.Meta(ge=1)] | None = None
    columns: dict[str, int] = {}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "plan demo.yaml: the key 'servers' is missing; add it."),
        ([1], "plan demo.yaml: expected keys with values, got a list."),
        ({"servers": "x"}, "plan demo.yaml, servers: expected a list, got 'x'."),
        ({"servers": ["a", 1]}, "plan demo.yaml, servers[2]: expected text, got 1."),
        (
            {"servers": [""]},
            "plan demo.yaml, servers[1]: expected text of at least 1 in length, got ''.",
        ),
        (
            {"servers": [], "workload": {"timeout_s": -5}},
            "plan demo.yaml, workload.timeout_s: expected a number above 0, got -5.",
        ),
        (
            {"servers": [], "workload": {"protocol": "http2"}},
            "plan demo.yaml, workload.protocol: expected http or pong, got 'http2'.",
        ),
        (
            {"servers": [], "workload": {"protokol": "pong"}},
            "plan demo.yaml, workload: unknown key 'protokol'. Did you mean 'protocol'?",
        ),
        (
            {"servers": [], "seconds": 0.5},
            "plan demo.yaml, seconds: expected a number of at least 1, got 0.5.",
        ),
        (
            {"servers": [], "columns": {"a": "x"}},
            "plan demo.yaml, columns: expected a whole number, got text.",
        ),
    ],
)
def test_data_of_the_wrong_shape_is_named_by_its_key(data: object, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        convert(data, Outer, name="demo.yaml", what="plan")
    assert str(caught.value) == sentence


AT_ONCE = """
import sys, threading
sys.setswitchinterval(1e-6)
from workbench.plan import library
ready = threading.Barrier(4)
def read():
    ready.wait()
    library.presets()
threads = [threading.Thread(target=read) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_may_read_their_first_plans_at_once() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", AT_ONCE], cwd=Path(__file__).parents[2], check=False
    )
    assert ended.returncode == 0
