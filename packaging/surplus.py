"""What a bundle leaves out: modules, libraries and files that nothing in it loads."""

from __future__ import annotations

import re

OUTSIDE = [
    *("tkinter", "unittest", "pydoc_data", "lib2to3", "test", "idlelib", "ensurepip", "venv"),
    *("matplotlib", "scipy", "pandas", "IPython", "PIL", "h5py", "cupy", "numba"),
    *("pytest", "setuptools", "pip", "pkg_resources", "mypy", "ruff", "PyInstaller"),
    *("pyqtgraph.opengl", "pyqtgraph.examples", "pyqtgraph.jupyter"),
    # numpy loads these when they are asked for, and nothing here asks.
    *("numpy.f2py", "numpy.random", "numpy.fft", "numpy.polynomial", "numpy.testing"),
    # Of servers and of the load agent, which run on this computer under Linux only; for them see
    # `interpreter.py`.
    *("gevent", "greenlet", "zope", "zmq"),
    *(
        f"PySide6.{name}"
        for name in (
            *("QtNetwork", "QtQml", "QtQuick", "QtQuickWidgets", "QtQuickControls2", "QtSql"),
            *("QtDesigner", "QtHelp", "QtPrintSupport", "QtConcurrent", "QtUiTools", "QtXml"),
            *("QtDBus", "QtTest"),
        )
    ),
]
"""Modules, for PyInstaller's `excludes`."""

UNUSED = (
    *("gevent.tests", "gevent.testing", "gevent.ares", "gevent.resolver.cares"),
    *("gevent.libuv", "gevent.libev._corecffi", "gevent.libev.corecffi"),
)
"""Modules of gevent: where its loop is libev, compiled."""

BULKY = [
    *("antigravity", "crypt", "curses", "dbm", "nis", "readline", "sqlite3", "this", "turtle"),
    *("turtledemo", "distutils", "doctest", "mailbox", "pdb"),
    *("_curses_panel", "_gdbm", "ossaudiodev"),
]
"""Parts of the standard library that serve no server; some bring large libraries along."""

_LANGUAGES = (
    "python|javascript|go|ruby|erlang|jvm|shell|yaml|data|html|css|configs|_mapping|_.*_bui.*"
)
UNSPOKEN = re.compile(rf"pygments\.lexers\.(?!({_LANGUAGES})$)")
"""Of several hundred languages all but those that servers are written in."""

SENT = (*("__init__.py", "remote/**/*.py", "workloads/*/__init__.py"),)
"""Of `workbench`, what lies in a bundle as source, too: machines run it with a Python of theirs,
and by their folders the workloads are found."""

SURPLUS = re.compile(
    # Where the building machine keeps its files is nobody's business, and differs.
    r"\.dist-info/((direct_url|uv_build|uv_cache)\.json|INSTALLER|REQUESTED)"
    r"|pongbench-.*\.dist-info/RECORD"
    r"|PySide6/(Qt/)?(translations|qml|metatypes)|PySide6/opengl32sw|pyqtgraph/(icons/peegee|colors/maps)|uv-.*/sboms"
    r"|numpy/_core/_multiarray_tests"
    r"|PySide6/(Qt/)?plugins/(imageformats/(lib)?q(gif|icns|ico|jpeg|pdf|tga|tiff|wbmp|webp)"
    r"|platforms/(lib)?q(direct2d|eglfs|linuxfb|minimal|minimalegl|vnc|vkkhrdisplay)"
    r"|platformthemes/libqgtk3|platforminputcontexts/libqtvirtualkeyboard"
    r"|egldeviceintegrations|generic|networkinformation|tls|qmltooling|sqldrivers|printsupport"
    r"|wayland-graphics-integration|xcbglintegrations|vectorimageformats|designer|help"
    r"|wayland-shell-integration/lib(fullscreen|ivi|qt|wl))"
    r"|(lib)?Qt6(Pdf|Quick|Qml|VirtualKeyboard|Network|Egl|Wlshell|WlShell|WaylandCompositor|Sql"
    r"|Designer|Help|PrintSupport|UiTools|ShaderTools|Test|Concurrent|Labs)\w*\.(so|dll)"
)
"""Parts of Qt that a program of raster-drawn widgets on X11, Wayland, Windows or offscreen never
loads, by their paths with slashes."""

SYSTEM = re.compile(
    r"lib(X11|xcb|Xau|Xdmcp|Xext|Xfixes|Xrender|Xcursor|Xcomposite|Xdamage|Xinerama|Xi|Xrandr|Xft"
    r"|xkbcommon|EGL|GL|OpenGL|wayland|gtk|gdk|glib|gobject|gio|gmodule|gthread|pcre2|fontconfig"
    r"|freetype|harfbuzz|graphite2|png16|brotli|pixman|cairo|pango|atk|atspi|epoxy|thai|datrie"
    r"|fribidi|dbus|systemd|cap|gcrypt|gpg-error|lz4|zstd|mount|blkid|selinux|bsd|md|tiff|webp"
    r"|jbig|deflate|Lerc|jpeg|krb5|k5crypto|gssapi|com_err|keyutils|tirpc|nsl|db-|readline"
    r"|ncurses|tinfo|sqlite3)"
    r"[-+.\w]*\.so"
)
"""A window needs the system's own of these (`bootstrap.py` names their packages): a second libX11
or glib beside the one its drivers and themes load is how programs crash."""
