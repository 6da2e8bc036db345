"""A folder of our own modules as one source text, which a machine runs without a file of ours."""

from __future__ import annotations

from pathlib import Path

_FINDER = '''
import importlib, importlib.util, sys

class Packed:
    """Finds the modules in SOURCES."""

    def find_spec(self, name, path=None, target=None):
        if name in SOURCES:
            return importlib.util.spec_from_loader(name, self, is_package="." not in name)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        exec(compile(SOURCES[name], name, "exec"), module.__dict__)

sys.meta_path.insert(0, Packed())
'''


def packed(folder: Path) -> str:
    """Return the text of a package whose modules import each other by `from .name`, and which is
    started by `main` in its module `main`."""
    sources = {
        folder.name if path.stem == "__init__" else f"{folder.name}.{path.stem}": path.read_text(
            "utf-8"
        )
        for path in sorted(folder.glob("*.py"))
    }
    start = f"importlib.import_module({f'{folder.name}.main'!r}).main()"
    return f"SOURCES = {sources!r}\n{_FINDER}{start}\n"
