"""How builders interpret the output of the tools they call."""

import io
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from workbench.remote.builders import Failed, ran
from workbench.remote.builders import heritage as build_heritage
from workbench.remote.builders import make as make_server
from workbench.remote.builders import programs as find_programs
from workbench.remote.builders import python as build_python
from workbench.servers.runtimes import builders, heritage

WITHOUT_COMPILER = """\
error: Failed to build `bjoern==3.2.2`
  cause: The build backend returned an error
  cause: Call to `setuptools.build_meta:__legacy__.build_wheel` failed (exit status: 1)

         [stdout]
         building '_bjoern' extension
         gcc -Wsign-compare -c bjoern/request.c

         [stderr]
         error: [Errno 2] No such file or directory: 'gcc'

hint: Build failures usually indicate a problem with the package or the build environment
"""


def test_a_missing_compiler_is_recognised_in_the_build_output() -> None:
    assert build_python.compiling(WITHOUT_COMPILER) == (
        "[Errno 2] No such file or directory: 'gcc'"
    )
    assert build_python.package(WITHOUT_COMPILER) == "bjoern==3.2.2"


def test_a_missing_header_is_reported_instead_of_the_compilers_exit_status() -> None:
    output = WITHOUT_COMPILER.replace(
        "error: [Errno 2] No such file or directory: 'gcc'",
        "bjoern/server.h:2:10: fatal error: ev.h: No such file or directory\n"
        "         error: command '/usr/bin/gcc' failed with exit code 1",
    )
    assert build_python.compiling(output) == "ev.h: No such file or directory"


def test_a_build_without_compilation_does_not_blame_the_compiler() -> None:
    assert build_python.compiling("error: no solution found\n  cause: tornado is gone\n") == ""


def test_a_distributions_version_is_shortened_to_the_programs_own() -> None:
    versions = ("1:25.2.3+dfsg-1+deb12u4", "2.4.71-1~deb12u1", "1.22.1-9+deb12u11")
    assert [find_programs.upstream(version) for version in versions] == [
        "25.2.3",
        "2.4.71",
        "1.22.1",
    ]


def test_a_program_without_a_version_may_be_another_one(tmp_path: Path) -> None:
    program = {"title": "wrk", "version": ["-v"], "pattern": r"wrk (\d[\w.]*)", "status": 1}
    path = tmp_path / "wrk"

    def version(prints: str, status: int) -> str:
        path.write_text(f"#!/bin/sh\necho {prints}\nexit {status}\n")
        path.chmod(0o755)
        return find_programs.version_of(program, str(path), {})

    assert version("wrk 4.1.0", 1) == "4.1.0"
    others = ("wrk, the next", 1, "no-version"), ("no libluajit", 127, "broken")
    for prints, status, why in others:
        with pytest.raises(Failed) as failed:
            version(prints, status)
        assert failed.value.event["why"] == why and prints in failed.value.event["detail"]


def test_an_installed_package_whose_program_is_gone_is_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where apt has it in its cache: "0 packages, 0 MB" were offered."""
    program = {"title": "dash", "packages": ["dash"], "lone": []}
    if not find_programs.on_debian():
        pytest.skip("this is not Debian")
    try:
        (dash,) = find_programs.wanted(program, ["dash"])
    except Failed as failed:
        pytest.skip(f"apt knows no archive with the version that is installed: {failed}")
    (tmp_path / "partial").mkdir()
    version = dash["version"].replace(":", "%3a")
    architecture = ran(["dpkg", "--print-architecture"]).stdout.strip()
    with (tmp_path / f"dash_{version}_{architecture}.deb").open("wb") as cached:
        cached.truncate(dash["bytes"])
    configuration = tmp_path / "apt.conf"
    configuration.write_text(f'Dir::Cache::Archives "{tmp_path}";\n')
    monkeypatch.setenv("APT_CONFIG", str(configuration))
    assert find_programs.wanted(program, ["dash"]) == [dash]
    with pytest.raises(Failed, match="lacks the version that is installed"):
        find_programs.wanted(program, ["dash"], f"-o=Dir::State::Lists={tmp_path}")


def test_the_first_error_of_old_pip_is_reported() -> None:
    output = "Collecting a\nsrc/a.c:3:10: fatal error: ev.h: No such file\nerror: command failed\n"
    assert build_heritage.first_error(output) == "src/a.c:3:10: fatal error: ev.h: No such file"


def test_what_a_failed_command_of_old_pip_said_is_reported() -> None:
    output = """\
    ERROR: Command errored out with exit status 1:
     command: /usr/bin/python2.7 -c 'import sys' egg_info
         cwd: /tmp/pip-install/fapws3/
    Complete output (1 lines):
    We don't find 'ev.h' which is a mandatory file to compile Fapws
    ----------------------------------------
ERROR: Command errored out with exit status 1: python setup.py egg_info Check the logs.
"""
    assert build_heritage.first_error(output).startswith("We don't find 'ev.h'")
    assert build_heritage.first_error("ERROR: Command errored out\n").startswith("ERROR: Comm")
    assert build_heritage.first_error("") == "no output"


MAVEN = """\
\x1b[1;31m[ERROR]\x1b[m COMPILATION ERROR :
[ERROR] /tmp/Pong.java:[3,1] class, interface, enum, or record expected
[ERROR]
[ERROR] Failed to execute goal compile on project pong: Compilation failure -> [Help 1]
[ERROR]
[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
[ERROR] [Help 1] http://cwiki.apache.org/confluence/display/MAVEN/MojoFailureException
"""
CARGO = """\
   Compiling thiserror v2.0.17
   Compiling proc-macro-error-attr v1.0.4
   Compiling pong v0.1.0 (/tmp/axum)
error[E0425]: cannot find value `nothing` in this scope
 --> src/main.rs:3:5
error: could not compile `pong` (bin "pong") due to 1 previous error
"""
GO = "# pong\n./pong.go:10:2: undefined: nothing\n./pong.go:11:2: too many errors\n"
NPM = """\
npm ERR! code E404
npm ERR! 404 Not Found - GET https://registry.npmjs.org/nothing-of-this-name
npm ERR! 404
npm ERR! A complete log of this run can be found in:
"""
MAKE = "gcc -c main.c\nmain.c:1:1: error: unknown type name 'nothing'\nmake: *** [main.o] Error 1\n"


@pytest.mark.parametrize(
    ("argv", "output", "detail", "last"),
    [
        (
            ["/usr/bin/mvn"],
            MAVEN,
            "mvn said: /tmp/Pong.java:[3,1] class, interface",
            "project pong: Compilation fail",
        ),
        (["cargo"], CARGO, "error[E0425]: cannot find value `nothing`", "due to 1 previous error"),
        (["go", "build"], GO, "go said: ./pong.go:10:2: undefined", "too many errors"),
        (["npm", "ci"], NPM, "npm said: npm ERR! 404 Not Found", "complete log of this run"),
        (["make"], MAKE, "make said: main.c:1:1: error: unknown type", "[main.o] Error 1"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_failed_compilation_gives_its_first_error_and_its_last_lines(
    argv: list[str], output: str, detail: str, last: str
) -> None:
    event = make_server.failed(argv, 1, output.encode()).event
    assert event["why"] == "command"
    assert detail in event["detail"]
    lines = builders.last_lines(event)
    assert last in lines[-1]
    assert "Help" not in "".join(lines) and "\x1b" not in "".join(lines)


@pytest.mark.parametrize(
    "output",
    [
        "  [7] Couldn't connect to server (Failed to connect to 127.0.0.1 port 9)",
        "  [6] Could not resolve hostname (Could not resolve host: index.crates.io)",
        "npm error request to https://registry.npmjs.org/ws failed, reason: EAI_AGAIN",
        "[ERROR] Could not transfer artifact a:b from/to central",
        'pong.go:3:2: Get "https://proxy.golang.org/": dial tcp: lookup proxy.golang.org',
    ],
)
def test_a_network_that_a_compiler_cannot_reach_is_recognised(output: str) -> None:
    npm = "npm error code EAI_AGAIN\nwarning: dial tcp failed, 3 tries remaining\n"
    said = make_server.failed(["it"], 1, f"{npm}{output}\nerror: it failed\n".encode()).event
    assert said["why"] == "offline"
    assert output.strip().removeprefix("[ERROR] ") in said["detail"]


def test_of_a_long_failure_only_the_last_lines_are_kept() -> None:
    output = "".join(f"line {number}\n" for number in range(1000))
    assert builders.last_lines(make_server.failed(["make"], 2, output.encode()).event) == [
        f"line {number}" for number in range(1000 - builders.LAST_LINES, 1000)
    ]
    assert builders.last_lines({"lines": ["x" * 10_000] * 99})[-1] == "x" * 300
    assert builders.last_lines({"lines": "nonsense"}) == []
    silent = make_server.failed(["/usr/bin/make"], 2, b"\n").event
    assert silent["detail"] == "make ended with status 2 and no output"
    assert len(builders.last_lines(Failed("compile", "x", output=output).event)) == (
        builders.LAST_LINES
    )


def test_a_compiler_is_followed_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make_server, "EVERY_S", 0)
    say = "print('Compiling tokio', flush=True)"
    with subprocess.Popen([sys.executable, "-c", say], stdout=subprocess.PIPE) as program:
        assert make_server.followed(program, 0.0) == b"Compiling tokio\n"
    *_, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert (last["event"], last["output"]) == ("making", "Compiling tokio")


def test_what_old_python_knows_of_a_folder_with_umlauts_says_its_encoding(tmp_path: Path) -> None:
    """Python 2.7 takes a source for ASCII unless its first two lines say more (PEP 263)."""
    text = b'build_time_vars = {"INCLUDEDIR": "/usr/include"}\n'
    with io.BytesIO() as data:
        with tarfile.open(fileobj=data, mode="w:xz") as files:
            member = tarfile.TarInfo("usr/lib/python2.7/_sysconfigdata_nd.py")
            member.size = len(text)
            files.addfile(member, io.BytesIO(text))
        packed = data.getvalue()
    head = f"{'data.tar.xz':<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(packed):<10}`\n"
    (tmp_path / "a.deb").write_bytes(b"!<arch>\n" + head.encode() + packed)
    task = {"version": "2.7", "debs": ["a"], "folder": tmp_path, "work": tmp_path / "work"}
    place = build_heritage.python_of({**task, "cache": tmp_path / "Bänke"})
    made = (place / "usr/lib/python2.7/_sysconfigdata_nd.py").read_text("utf-8")
    assert re.search(r"coding[:=]\s*utf-8", made.splitlines()[0])
    assert f"{place}/usr/include" in made


def test_an_architecture_without_old_pythons_is_reported_in_one_sentence() -> None:
    assert heritage.unfit("x86_64") == ""
    assert heritage.unfit("aarch64") == (
        "Python 2.7 and 3.9 come from Debian 11 for x86-64 only, and this processor is"
        " aarch64; use a machine with x86-64."
    )


def test_scripts_find_their_parts_where_they_were_unpacked(tmp_path: Path) -> None:
    """As Debian's /usr/bin/tsung, which has no variable for that; of 1.8 it says /bin/erl."""
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/lib/tsung").mkdir(parents=True)
    (tmp_path / "usr/bin/erl").write_text("")
    script = tmp_path / "usr/bin/tsung"
    script.write_text(
        '#!/usr/bin/env bash\nINSTALL_DIR=/usr/lib/tsung\nERL="/usr/bin/erl"\nRSH=/usr/bin/ssh\n'
        "ERL=/bin/erl\nSHELL=/bin/sh\n"
    )
    script.chmod(0o755)
    for _ in range(2):  # The second run has nothing to do.
        find_programs.relocate(tmp_path, ["usr/bin/ts*"])
        assert script.read_text().splitlines() == [
            "#!/usr/bin/env bash",
            f"INSTALL_DIR={tmp_path}/usr/lib/tsung",
            f'ERL="{tmp_path}/usr/bin/erl"',
            "RSH=/usr/bin/ssh",
            f"ERL={tmp_path}/usr/bin/erl",
            "SHELL=/bin/sh",
        ]
    assert script.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in (tmp_path / "usr/bin").iterdir() if path != script] == ["erl"]


def test_absolute_links_lead_into_the_unpacked_packages(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/java.security").write_text("it is read\n")
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "usr/lib/java.security").symlink_to("/etc/java.security")
    (tmp_path / "usr/lib/elsewhere").symlink_to("/etc/of-the-host")
    find_programs.relink(tmp_path)
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    assert (moved / "usr/lib/java.security").read_text() == "it is read\n"
    assert str((moved / "usr/lib/elsewhere").readlink()) == "/etc/of-the-host"
