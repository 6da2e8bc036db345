"""Qt behaves the same with the reduced ICU data."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import icu  # noqa: E402

ASKED = """
import functools, json
from PySide6.QtCore import (
    QCollator, QDate, QDateTime, QLocale, QStringDecoder, QStringEncoder, QTime, QTimeZone)
words = ["Zebra", "zebra", "Äpfel", "apfel", "ärger", "öl", "Ohm", "résumé", "resume", "ñu", "nube",
         "9/s", "10/s", "Łódź", "lód", "日本", "中国", "한국", "straße", "strasse", "İ", "ı"]
told = {}
for name in ("C", "en_GB", "de_DE", "sv_SE", "es_ES", "tr_TR", "pl_PL", "fr_CA", "da_DK"):
    locale = QLocale(name)
    collator = QCollator(locale)
    if name != "C":
        collator.setNumericMode(True)
    moment = QDateTime(QDate(2026, 3, 29), QTime(14, 5), QTimeZone(b"Europe/Berlin"))
    told[name] = [
        sorted(words, key=functools.cmp_to_key(collator.compare)),
        locale.toUpper("straße iıß ǆ"), locale.toLower("IİÀ Σ"),
        locale.toString(moment, QLocale.FormatType.ShortFormat), locale.toString(moment.date()),
        locale.toString(1234567.891, "f", 3), locale.formattedDataSize(123456789),
        locale.nativeLanguageName(), locale.monthName(3), locale.dayName(2),
    ]
told["zone"] = [
    QTimeZone(b"America/New_York").offsetFromUtc(
        QDateTime(QDate(2026, month, 1), QTime(0, 0), QTimeZone(b"UTC")))
    for month in (1, 7)]
told["encodings"] = {
    name: (QStringDecoder(name).isValid(), QStringEncoder(name).isValid()) for name in
    ("UTF-8", "UTF-16LE", "UTF-32", "ISO-8859-1", "ISO-8859-15", "windows-1252", "KOI8-R")}
told["icu"] = [line.split()[-1] for line in open("/proc/self/maps") if "libicudata" in line][:1]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def slim() -> Iterator[Path]:
    PySide6 = pytest.importorskip("PySide6")
    found = sorted(Path(PySide6.__file__).parent.glob("Qt/lib/libicudata.so.*"))
    if not found or not shutil.which("gcc"):
        pytest.skip("no ICU beside Qt, or no gcc, as where a package is built")
    yield found[0]


def ask(library: Path | None = None) -> dict[str, object]:
    more = {"LD_LIBRARY_PATH": str(library.parent)} if library else {}
    done = subprocess.run(
        [sys.executable, "-c", ASKED],
        env=os.environ | more,
        capture_output=True,
        text=True,
        check=True,
    )
    data: dict[str, object] = json.loads(done.stdout)
    return data


def test_qt_sorts_writes_and_encodes_with_the_slim_data_as_with_all_of_it(
    slim: Path, tmp_path: Path
) -> None:
    library = tmp_path / slim.name
    shutil.copyfile(slim, library)
    assert icu.slim(library)
    assert library.stat().st_size < slim.stat().st_size / 6
    before, after = ask(), ask(library)
    assert after.pop("icu") == [str(library)]
    assert before.pop("icu") != [str(library)]
    assert after == before


def test_a_file_without_icu_data_is_reported(tmp_path: Path) -> None:
    (tmp_path / "lib.so").write_bytes(b"\x7fELF, and nothing of ICU")
    with pytest.raises(icu.NotIcu, match="holds no data of ICU"):
        icu.data_of(tmp_path / "lib.so")
