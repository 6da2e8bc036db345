"""The packages of Debian 11 with the Pythons of old servers, fetched by this computer and kept."""

from __future__ import annotations

import hashlib
import http.client
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from workbench import paths, stores
from workbench.errors import PongbenchError
from workbench.fetching import why_unreached
from workbench.servers.entry import ServerEntry

MIRRORS = ("http://deb.debian.org/debian/", "http://archive.debian.org/debian/")
"""Downloads are verified by their hashes."""
FETCH_WITHIN_S = 60.0


@dataclass(frozen=True)
class Deb:
    """A package of Debian 11 for x86-64."""

    path: str
    """Path below a mirror."""
    bytes: int
    sha256: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2].partition("_")[0]


_LIBRARIES = (
    Deb(
        "pool/main/o/openssl/libssl1.1_1.1.1w-0+deb11u1_amd64.deb",
        1565664,
        "aadf8b4b197335645b230c2839b4517aa444fd2e8f434e5438c48a18857988f7",
    ),
    Deb(
        "pool/main/libf/libffi/libffi7_3.3-6_amd64.deb",
        23096,
        "30ca89bfddae5fa6e0a2a044f22b6e50cd17c4bc6bc850c579819aeab7101f0f",
    ),
)
"""Packages of both versions."""

DEBS: dict[str, tuple[Deb, ...]] = {
    "2.7": (
        Deb(
            "pool/main/p/python2.7/python2.7_2.7.18-8+deb11u1_amd64.deb",
            310988,
            "0b0b34b069d41970af75a4fe5b9012465e480fc0a0488ec16554d6299fe0b46e",
        ),
        Deb(
            "pool/main/p/python2.7/python2.7-minimal_2.7.18-8+deb11u1_amd64.deb",
            1301072,
            "44f0cdc1a343303d31c55fcb3a6402cfe326adf749ec30e375e6e0c0c5f7c1f7",
        ),
        Deb(
            "pool/main/p/python2.7/libpython2.7_2.7.18-8+deb11u1_amd64.deb",
            1022792,
            "13621011f1b24bcda7c315bb2848cb447e21410870872fadd8e8c65b0dc572ef",
        ),
        Deb(
            "pool/main/p/python2.7/libpython2.7-minimal_2.7.18-8+deb11u1_amd64.deb",
            397032,
            "85833c92314011b89bbead6f9a5a7a360b5ee4f9b95e001225afead4ebf9f7d3",
        ),
        Deb(
            "pool/main/p/python2.7/libpython2.7-stdlib_2.7.18-8+deb11u1_amd64.deb",
            1863736,
            "3e627d6d8992b853e000b8a4c09dda613fb767cdb711a2eac20ebc9f867b593c",
        ),
        Deb(
            "pool/main/p/python2.7/libpython2.7-dev_2.7.18-8+deb11u1_amd64.deb",
            2353600,
            "887034beb360069df8b519ad93893454ef3402415775a0466940fb73d6a8b8ca",
        ),
        *_LIBRARIES,
    ),
    "3.9": (
        Deb(
            "pool/main/p/python3.9/python3.9_3.9.2-1_amd64.deb",
            465964,
            "12f8b47632cc26b986bfc4c882fc98e7036d406143ae8bb1dbfff6b61d7c8993",
        ),
        Deb(
            "pool/main/p/python3.9/python3.9-minimal_3.9.2-1_amd64.deb",
            1955456,
            "5d6003c5c20223a2547ac4976e09a9ec778dbe351507a6292bef3b60df5f4aa7",
        ),
        Deb(
            "pool/main/p/python3.9/libpython3.9_3.9.2-1_amd64.deb",
            1691056,
            "97647869e7e9db643a7eeab949b7d140f9a175814fcc94289be70d426aa5fd1a",
        ),
        Deb(
            "pool/main/p/python3.9/libpython3.9-minimal_3.9.2-1_amd64.deb",
            800628,
            "594283526d67e03e3c4e96534f6bfe5da1bf41da5d49360553c9b79fbf08c4ab",
        ),
        Deb(
            "pool/main/p/python3.9/libpython3.9-stdlib_3.9.2-1_amd64.deb",
            1683644,
            "32ac64d959ac2dbc5bb289532fc9834dab8f671b5455695a3a9315aad973c65b",
        ),
        Deb(
            "pool/main/p/python3.9/libpython3.9-dev_3.9.2-1_amd64.deb",
            4027848,
            "3a2172f6d926cf2e98a1a2e24f5aecdc3bcd56fa7c6d9f7a3fc4892f67377d5f",
        ),
        *_LIBRARIES,
        Deb(
            "pool/main/m/mpdecimal/libmpdec3_2.5.1-1_amd64.deb",
            87652,
            "816404866f754d5662d69db50072018dccb78cf372fc38e0be961fab0f57d741",
        ),
        Deb(
            "pool/main/p/python3-stdlib-extensions/python3-distutils_3.9.2-1_all.deb",
            142952,
            "05ec4080e0f05ba6b1c339d89c97f6343919be450b66cf4cfb215f54dcb85e58",
        ),
        Deb(
            "pool/main/p/python3-stdlib-extensions/python3-lib2to3_3.9.2-1_all.deb",
            77772,
            "802c198e5dd0b5af85a6937e426a85d616680785e8d18148fac451281a83a9a9",
        ),
    ),
}


def to_fetch(entry: ServerEntry) -> list[str]:
    """Return the commands that fetch what this computer lacks of that Python."""
    debs = DEBS.get(entry.runtime.removeprefix("python"), ())
    return [command(deb) for deb in debs if not kept(deb).is_file()]


def command(deb: Deb) -> str:
    """Return what fetching it is, to show a person."""
    return f"fetch {MIRRORS[0]}{deb.path}"


def at_hand(entry: ServerEntry) -> bool:
    """Return whether the packages of its Python are on this computer."""
    return all(kept(deb).is_file() for deb in DEBS[entry.runtime.removeprefix("python")])


def kept(deb: Deb) -> Path:
    """Return where a package is on this computer, once it was fetched."""
    return paths.cache_dir() / "debs" / f"{deb.sha256}.deb"


def fetch(deb: Deb) -> None:
    """Fetch a package and check it. Raises PongbenchError."""
    connect = "connect this computer to the network once, the package is then kept"
    reasons: list[str] = []
    for mirror in MIRRORS:
        try:
            with urllib.request.urlopen(mirror + deb.path, timeout=FETCH_WITHIN_S) as answer:
                data = answer.read(deb.bytes + 1)
        except (OSError, http.client.HTTPException) as error:
            reason = str(getattr(error, "reason", error))
            through = " (through http_proxy)" if "http" in urllib.request.getproxies() else ""
            what = f"{mirror.split('/')[2]}{through}"
            reasons.append(why_unreached(reason, connect, what=what))
            continue
        if hashlib.sha256(data).hexdigest() == deb.sha256:
            stores.write(kept(deb), data, stores.DEFAULT_MODE)
            return
        reasons.insert(0, f"{mirror}{deb.path} has another SHA-256; it was not kept")
    raise PongbenchError(f"{deb.name} of Debian 11 cannot be fetched: {reasons[0]}.")
