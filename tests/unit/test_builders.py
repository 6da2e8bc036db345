"""How builders interpret the output of the tools they call."""

from pathlib import Path

from workbench.servers.runtimes import build_heritage, build_python, find_programs, heritage

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


def test_the_first_error_of_old_pip_is_reported() -> None:
    output = "Collecting a\nsrc/a.c:3:10: fatal error: ev.h: No such file\nerror: command failed\n"
    assert build_heritage.first_error(output) == "src/a.c:3:10: fatal error: ev.h: No such file"


def test_an_architecture_without_old_pythons_is_reported_in_one_sentence() -> None:
    assert heritage.unfit("x86_64") == ""
    assert heritage.unfit("aarch64") == (
        "Python 2.7 and 3.9 come from Debian 11 for x86-64 only, and this processor is"
        " aarch64; use a machine with x86-64."
    )


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
