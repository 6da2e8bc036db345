"""What Linux can check of the packages for Windows and macOS: PyInstaller's spec is executed
as it would be there, with a fake PyInstaller, and the lock file must have what they install."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

PLAYED = """
import json, pathlib, runpy, sys, types
import PySide6.QtSvg, uv  # these know by themselves where they are
sys.path.insert(0, "packaging")
system, specpath = sys.argv[1:]
told = {}
found = uv.find_uv_bin()
hooks = types.ModuleType("PyInstaller.utils.hooks")
hooks.collect_submodules = lambda package, filter=None: [package]
hooks.copy_metadata = lambda package, recursive=False: [(package, package + ".dist-info")]
for name in ("PyInstaller", "PyInstaller.utils", "PyInstaller.utils.hooks"):
    sys.modules[name] = hooks
class Analysis:
    def __init__(self, scripts, **options):
        told["analysis"] = {"scripts": scripts, **options}
        self.scripts = [("pyi_rth_inspect", "", ""), ("frozen", "", "")]
        self.pure = [("app", "", ""), ("pygments.lexers.haskell", "", "")]
        self.binaries = [(name, "", "") for name in BINARIES[system]]
        library = pathlib.Path(specpath).parent / "base_library.zip"
        self.datas = [("base_library.zip", str(library), "DATA")]
def EXE(pure, scripts, **options):
    told["program"] = {"scripts": [name for name, _, _ in scripts], **options}
def COLLECT(executable, binaries, datas, **options):
    told["binaries"] = [name for name, _, _ in binaries]
def BUNDLE(bundle, **options):
    told["bundle"] = options
BINARIES = {
    "win32": ["PySide6/plugins/platforms/qwindows.dll", "PySide6/Qt6Gui.dll", "libcrypto-3.dll",
        "PySide6/plugins/platforms/qoffscreen.dll", "numpy/_core/_multiarray_umath.pyd"],
    "darwin": ["PySide6/Qt/plugins/platforms/libqcocoa.dylib", "libcrypto.3.dylib",
        "PySide6/Qt/plugins/platforms/libqoffscreen.dylib", "libexpat.1.dylib",
        "PySide6/Qt/lib/QtGui.framework/Versions/A/QtGui", "numpy/_core/_multiarray_umath.so"],
}
sys.platform = system
runpy.run_path("packaging/pongbench.spec", {"SPECPATH": specpath, "Analysis": Analysis, "EXE": EXE,
    "PYZ": lambda pure: None, "COLLECT": COLLECT, "BUNDLE": BUNDLE})
told["expected"] = BINARIES[system]
print(json.dumps(told, default=str))
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The sources, with a `build` of its own."""
    for name in ("app", "workbench", "resources", "profiles", "packaging", "LICENSE"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def carried_out(system: str, tree: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", PLAYED, system, str(tree / "packaging")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_the_bundle_spec_works_on_every_system(system: str, tree: Path) -> None:
    data = carried_out(system, tree)
    analysis = data["analysis"]
    assert Path(analysis["scripts"][0]).is_file()
    for source, _ in [*analysis["binaries"], *analysis["datas"]]:
        assert source.endswith("bench") or source == "bcrypt" or Path(source).exists(), source
    places = {place for _, place in analysis["datas"]}
    assert {"resources", "profiles", "workbench/remote", "workbench/remote/agent"} <= places
    assert not set(analysis["hiddenimports"]) & set(analysis["excludes"])
    # Of the filters for Linux none takes away what is a library there; PyInstaller's hooks stay.
    assert data["binaries"] == data["expected"]
    assert data["program"]["scripts"] == ["pyi_rth_inspect", "frozen"]


def test_on_windows_the_program_has_an_icon_a_version_and_no_console_of_a_double_click(
    tree: Path,
) -> None:
    data = carried_out("win32", tree)
    program = data["program"]
    assert Path(program["icon"]).read_bytes()[:4] == b"\0\0\1\0"
    assert "filevers=(" in Path(program["version"]).read_text(encoding="utf-8")
    assert program["console"] and program["hide_console"] == "hide-early"
    assert "bundle" not in data


def test_on_macos_there_is_an_application_that_opens_sessions(tree: Path) -> None:
    bundle = carried_out("darwin", tree)["bundle"]
    assert bundle["name"] == "Pongbench.app"
    assert Path(bundle["icon"]).read_bytes()[:4] == b"icns"
    (kind,) = bundle["info_plist"]["CFBundleDocumentTypes"]
    assert kind["LSItemContentTypes"] == ["public.yaml"]


@pytest.mark.parametrize(
    ("job", "tag"), [("windows", r"win_amd64"), ("macos", r"macosx_\d+_\d+_(arm64|universal2)")]
)
def test_the_python_of_the_workflow_has_a_wheel_of_everything(job: str, tag: str) -> None:
    flow = (ROOT / ".github/workflows/package.yml").read_text(encoding="utf-8")
    steps = flow.split(f"\n  {job}:\n")[1]
    major, minor = re.search(r"--python (\d+)\.(\d+)", steps).groups()  # type: ignore[union-attr]
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    interpreter = rf"-(py3|cp{major}{minor}|cp3\d+-abi3)\b.*"
    lacking = {}
    for package in lock["package"]:
        wheels = [wheel["url"].rpartition("/")[2] for wheel in package.get("wheels", [])]
        fits = [w for w in wheels if re.search(rf"none-any|{interpreter}{tag}", w)]
        lacking[package["name"]] = lacking.get(package["name"], True) and not fits
    assert {name for name, lacks in lacking.items() if lacks} == {"pongbench"}
