"""Archives of trees, for `Machine.bring`."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from workbench import stores


def pack(
    tree: Path,
    archive: Path,
    *,
    without: frozenset[str] = frozenset(),
    texts: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
) -> Path:
    """Pack a tree into an archive, atomically.

    `without`: files left out, by relative path; `texts` and `links` (path to target) are added.
    """
    with (
        stores.replacing(archive, stores.DEFAULT_MODE) as file,
        tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as tar,
    ):

        def taken(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
            # The other end unpacks member by member and does not support hard links.
            tar.inodes.clear()  # type: ignore[attr-defined]
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            return None if member.name.removeprefix("./") in without else member

        tar.add(tree, arcname=".", filter=taken)
        for name, text in {**(texts or {}), ".whole": f"{archive.name}\n"}.items():
            data = text.encode()
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o644
            tar.addfile(member, io.BytesIO(data))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return archive
