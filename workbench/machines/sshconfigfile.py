"""Reads the configuration of OpenSSH where there is no `ssh` that could be asked.

It follows ssh_config(5) and readconf.c of OpenSSH 9. What it does not know, or would have to run a
program or ask a name server for, it refuses instead of guessing.
"""

from __future__ import annotations

import glob
import os
import re
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from workbench import paths

Answer: TypeAlias = dict[str, list[str]]
"""Values by keyword in lower case, as `ssh -G` prints them; what is not set is absent."""

_DEEPEST = 16
_SPACE = " \t\r\n\f"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FIRST = _names(
    "hostname user port addressfamily bindaddress identityagent hostkeyalias revokedhostkeys"
    " hostkeyalgorithms casignaturealgorithms requiredrsasize ciphers macs kexalgorithms"
    " preferredauthentications pkcs11provider"
)
"""One value, of the first line that has one."""
_SWITCHES = _names(
    "identitiesonly checkhostip compression tcpkeepalive gssapiauthentication proxyusefdpass"
    " passwordauthentication kbdinteractiveauthentication pubkeyauthentication"
)
_SEVERAL = {"userknownhostsfile", "globalknownhostsfile", "setenv"}
"""All values of the first line."""
_ADDED = {"identityfile", "certificatefile"}
"""The values of all lines."""
_RAW = {"proxycommand", "proxyjump"}
"""The rest of the line as it is; the first of either counts."""
_SAME = {
    "challengeresponseauthentication": "kbdinteractiveauthentication",
    "keepalive": "tcpkeepalive",
    "identityfile2": "identityfile",
}
_IGNORED = _names(
    "addkeystoagent afstokenpassing batchmode canonicaldomains canonicalizefallbacklocal"
    " canonicalizemaxdots canonicalizepermittedcnames channeltimeout cipher clearallforwardings"
    " compressionlevel connectionattempts connecttimeout controlmaster controlpath controlpersist"
    " dsaauthentication dynamicforward enableescapecommandline enablesshkeysign escapechar"
    " exitonforwardfailure fallbacktorsh fingerprinthash forkafterauthentication forwardagent"
    " forwardx11 forwardx11timeout forwardx11trusted gatewayports globalknownhostsfile2"
    " gssapiclientidentity gssapidelegatecredentials gssapikexalgorithms gssapikeyexchange"
    " gssapirenewalforcesrekey gssapiserveridentity gssapitrustdns hashknownhosts"
    " hostbasedacceptedalgorithms hostbasedauthentication hostbasedkeytypes ipqos"
    " kbdinteractivedevices kerberosauthentication kerberostgtpassing knownhostscommand"
    " localcommand localforward loglevel logverbose nohostauthenticationforlocalhost"
    " numberofpasswordprompts obscurekeystroketiming permitlocalcommand permitremoteopen protocol"
    " pubkeyacceptedalgorithms pubkeyacceptedkeytypes refuseconnection rekeylimit remotecommand"
    " remoteforward requesttty rhostsauthentication rhostsrsaauthentication rsaauthentication"
    " securitykeyprovider sendenv serveralivecountmax serveraliveinterval sessiontype"
    " skeyauthentication smartcarddevice stdinnull streamlocalbindmask streamlocalbindunlink"
    " stricthostkeychecking syslogfacility tag tisauthentication tunnel tunneldevice"
    " updatehostkeys useprivilegedport userknownhostsfile2 useroaming usersh verifyhostkeydns"
    " versionaddendum visualhostkey warnweakcrypto xauthlocation"
)
"""No matter for how a machine is reached here."""
_ASKED = ("exec", "localnetwork", "tagged", "version", "sessiontype", "command")
"""Conditions of `Match` that only `ssh` can evaluate."""


class Unread(Exception):
    """A configuration that is invalid or not understood; the text says where and why."""


class Invalid(Exception):
    """A line that cannot be read; the text says why."""


def read(files: Sequence[Path], address: str, *, me: str, user: str = "", port: int = 0) -> Answer:
    """Return what the user's file and the system's say about a host; those that do not exist are
    empty. `user` and `port`, if not empty and 0, come before theirs; `me`: who runs this. Raises
    Unread."""
    reading = _Reading(address, me)
    if user:
        reading.found["user"] = [user]
    if port:
        reading.found["port"] = [str(port)]
    folders = (paths.expanded("~/.ssh"), files[-1].parent)
    for _ in range(2):
        for file, folder in zip(files, folders, strict=True):
            reading.active = True
            reading.file(file, folder, 0)
        if not reading.wants_final or reading.final:
            break
        reading.final = True
        reading.host = reading.hostname()
        reading.found["hostname"] = [reading.host.replace("%", "%%")]
    named = "hostname" in reading.found
    reading.found["hostname"] = [(reading.hostname() if named else address).lower()]
    return reading.found


@dataclass
class _Reading:
    host: str
    """What `Host` is compared with: the address, and in the final pass its HostName."""
    me: str
    found: Answer = field(default_factory=dict)
    active: bool = True
    never: bool = False
    """In a file that is included in a block for other hosts: only checked."""
    final: bool = False
    wants_final: bool = False
    unknown: str = ""
    """IgnoreUnknown."""

    def __post_init__(self) -> None:
        self.typed = self.host

    def hostname(self) -> str:
        given = self.found.get("hostname", [self.host])[0]

        def expand(token: re.Match[str]) -> str:
            if token[0] not in ("%h", "%%"):
                raise Unread(f"HostName has the token {token[0]}")
            return "%" if token[0] == "%%" else self.typed

        return re.sub("%.?", expand, given)

    def file(self, path: Path, folder: Path, depth: int) -> None:
        if depth > _DEEPEST:
            raise Unread(f"{path}: there are too many levels of Include")
        try:
            text = os.fsdecode(path.read_bytes())
        except FileNotFoundError:
            return
        except OSError as error:
            raise Unread(f"{path}: {error.strerror}") from None
        before = self.active
        for number, line in enumerate(text.split("\n"), start=1):
            try:
                self._line(line.rstrip(_SPACE), folder, depth)
            except Invalid as problem:
                raise Unread(f"{path} line {number}: {problem}") from None
        self.active = before

    def _line(self, line: str, folder: Path, depth: int) -> None:
        word, rest = delimited(line.lstrip(" \t\r"))
        keyword = _SAME.get(word.lower(), word.lower())
        if not keyword or keyword.startswith("#"):
            return
        if not rest:
            raise Invalid(f"{word} has no value")
        if keyword == "match":
            self.active = self._matches(rest) and not self.never
            return
        if keyword in _RAW:
            self._raw(keyword, rest.lstrip(" \t="))
            return
        values = words(rest)
        if not values or not values[0]:
            raise Invalid(f"{word} has no value")
        if keyword == "host":
            self.active = _any_pattern(self.host, values) and not self.never
        elif keyword == "include":
            for pattern in values:
                self._include(pattern, folder, depth)
        elif keyword in _SEVERAL:
            self._set(keyword, values)
        elif keyword in _FIRST | _SWITCHES | _ADDED | {"canonicalizehostname", "ignoreunknown"}:
            if len(values) > 1:
                raise Invalid(f"{word} has more than one value")
            self._value(keyword, values[0])
        elif keyword not in _IGNORED and not _listed(keyword, self.unknown.lower()):
            raise Invalid(f"{word} is not a known keyword")

    def _value(self, keyword: str, value: str) -> None:
        if keyword in _SWITCHES:
            value = _switch(keyword, value)
        elif keyword == "port":
            value = _port(value)
        elif keyword == "requiredrsasize" and not value.isdecimal():
            raise Invalid(f"{value!r} is not a number")
        elif keyword == "addressfamily" and value.lower() not in ("any", "inet", "inet6"):
            raise Invalid(f"{value!r} is not an address family")
        if keyword == "ignoreunknown":
            self.unknown = self.unknown or value
        elif keyword == "canonicalizehostname":
            if value.lower() not in ("no", "false", "none") and self.active:
                raise Invalid("CanonicalizeHostname is only known to `ssh`, which is not used here")
        elif keyword not in _ADDED:
            self._set(keyword, [value])
        elif self.active and value not in (there := self.found.setdefault(keyword, [])):
            there.append(value)

    def _set(self, keyword: str, values: list[str]) -> None:
        if self.active:
            self.found.setdefault(keyword, values)

    def _raw(self, keyword: str, value: str) -> None:
        if keyword == "proxyjump":
            value = _jumps(value)
        if self.active and not self.found.keys() & _RAW:
            self.found[keyword] = [value]

    def _include(self, pattern: str, folder: Path, depth: int) -> None:
        if "${" in pattern:
            raise Invalid("variables in Include are only known to `ssh`, which is not used here")
        try:
            where = str(folder / Path(pattern).expanduser())
        except RuntimeError:
            raise Invalid(f"{pattern} is in the home of nobody") from None
        before = self.never
        self.never = before or not self.active
        # As in C: no hidden files, and ** is nothing special.
        for name in sorted(glob.glob(where)):  # noqa: PTH207
            self.file(Path(name), folder, depth + 1)
        self.never = before

    def _matches(self, text: str) -> bool:
        """Return whether the conditions of a `Match` hold."""
        conditions = list(_conditions(text))
        names = [name for name, _, _ in conditions]
        if "all" in names[:-1]:
            raise Invalid("Match all is followed by another condition")
        if not names:
            raise Invalid("Match has no condition")
        self.wants_final |= "final" in names
        result = True
        for name, negated, value in conditions:
            if name in _ASKED and result and not self.never:
                raise Invalid(f"Match {name} is only known to `ssh`, which is not used here")
            result = result and self._holds(name, value) != negated
        return result

    def _holds(self, name: str, value: str) -> bool:
        if name in ("all", "canonical", "final"):
            return name == "all" or self.final
        if name in ("host", "originalhost"):
            host = self.hostname() if name == "host" else self.typed
            return _listed(host.lower(), value.lower())
        if name in ("user", "localuser"):
            user = self.found.get("user", [self.me])[0] if name == "user" else self.me
            return _listed(user, value)
        if name not in _ASKED:
            raise Invalid(f"Match {name} is not a known condition")
        return False


def delimited(text: str) -> tuple[str, str]:
    """Return the first word and what follows it, and one `=`."""
    found = re.match(r'([^ \t\r\n"=]*)(?:"([^"]*)("?))?', text)
    assert found
    if found[2] is not None:
        if not found[3]:
            raise Invalid("a quotation mark is missing")
        return found[1] + found[2], text[found.end() :].lstrip(" \t\r\n")
    return found[1], re.sub(r"^[ \t\r\n]*=?[ \t\r\n]*", "", text[found.end() :])


def words(text: str) -> list[str]:
    """Split values as OpenSSH does: a comment begins with a word, a backslash stays unless it
    stands before a quotation mark, a backslash or a space."""
    found = []
    at = 0
    while at < len(text):
        if text[at] in " \t":
            at += 1
            continue
        if text[at] == "#":
            break
        word, quote = "", ""
        while at < len(text):
            char = text[at]
            after = text[at + 1 : at + 2]
            if char == "\\" and after and (after in "'\"\\" or (after == " " and not quote)):
                word += after
                at += 1
            elif not quote and char in " \t":
                break
            elif not quote and char in "\"'":
                quote = char
            elif char == quote:
                quote = ""
            else:
                word += char
            at += 1
        if quote:
            raise Invalid("a quotation mark is missing")
        found.append(word)
    return found


def _conditions(text: str) -> Iterator[tuple[str, bool, str]]:
    """Return name, whether it is negated, and value of each condition of a `Match`."""
    while text and not text.startswith("#"):
        word, text = delimited(text)
        name = word.lstrip("!").lower()
        value = ""
        if name not in ("all", "canonical", "final"):
            value, text = delimited(text)
            if not value or value.startswith("#"):
                raise Invalid(f"Match {name} has no value")
        yield name, word.startswith("!"), value


def _switch(keyword: str, value: str) -> str:
    value = {"true": "yes", "false": "no"}.get(value.lower(), value.lower())
    more = ("unbound", "host-bound") if keyword == "pubkeyauthentication" else ()
    if value not in ("yes", "no", *more):
        raise Invalid(f"{keyword} is yes or no, not {value!r}")
    return value


def _port(value: str) -> str:
    with_name = -1
    if not value.isdecimal():
        try:
            with_name = socket.getservbyname(value, "tcp")
        except OSError:
            raise Invalid(f"{value!r} is not a port") from None
    port = int(value) if value.isdecimal() else with_name
    if not 0 < port < 65536:
        raise Invalid(f"{value!r} is not a port")
    return str(port)


def _jumps(value: str) -> str:
    """Return jump hosts as [user@]host[:port], without what else may be written."""
    value = value.partition("#")[0].rstrip(_SPACE)
    jumps = [re.sub(r"^ssh://([^/]*)/?$", r"\1", jump) for jump in value.split(",")]
    if not all(
        re.fullmatch(r"([^@\s/]+@)?(\[[^\]\s]+\]|[^\s:/@\[\]]+|[^\s/@\[\]]+)(:\w+)?", j)
        for j in jumps
    ):
        raise Invalid(f"{value!r} is not a list of jump hosts")
    return ",".join(jumps)


def _any_pattern(host: str, patterns: Sequence[str]) -> bool:
    found = False
    for pattern in patterns:
        if not pattern:
            raise Invalid("Host has an empty value")
        if _like(host, pattern.removeprefix("!")):
            if pattern.startswith("!"):
                return False
            found = True
    return found


def _listed(text: str, patterns: str) -> bool:
    return _any_pattern(text, [each for each in patterns.split(",") if each])


def _like(text: str, pattern: str) -> bool:
    whole = "".join({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in pattern)
    return re.fullmatch(whole, text, re.DOTALL) is not None
