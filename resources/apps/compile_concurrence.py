"""Compiles Concurrence by its own setup.py, with Cython in the place of Pyrex."""

import os
import shutil
import sys
import types


def stand_in(name, **members):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(members)


made = sys.argv[1]
os.chdir("source")
for folder, _, names in os.walk("lib"):
    for name in names:
        if name.endswith(".pxd"):  # Pyrex found concurrence.io._io.pxd, Cython finds io/_io.pxd.
            shutil.copy(
                os.path.join(folder, name), os.path.join(folder, ".".join(name.split(".")[-2:]))
            )

from Cython.Distutils import build_ext  # noqa: E402

stand_in("ez_setup", use_setuptools=lambda: None)
stand_in("Pyrex")
stand_in("Pyrex.Distutils", build_ext=build_ext)
sys.argv[1:] = ["build", "--build-lib", made]
execfile("setup.py")  # noqa: F821  of Python 2.7
