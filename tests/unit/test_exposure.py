"""Servers without security fixes, and the addresses at which other machines reach them."""

from dataclasses import dataclass

import pytest

from workbench.commands import asking
from workbench.commands.asking import EXPOSE
from workbench.consent import Exposure, agreed, exposure, never_agree
from workbench.errors import BadInput, PongbenchError


@dataclass
class Entry:
    name: str
    heritage: bool = True


OLD, NEW = Entry("Cogen"), Entry("Tornado", heritage=False)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.0.1", "::1", "localhost"])
def test_a_server_reachable_only_from_its_own_machine_is_not_exposed(address: str) -> None:
    assert exposure([OLD], "h1", address) is None


@pytest.mark.parametrize("address", ["192.0.2.7", "0.0.0.0", "::", "10.0.0.1", "h1.example", ""])
def test_every_other_address_is_public(address: str) -> None:
    assert exposure([OLD, NEW], "h1", address) == Exposure(("Cogen",), "h1", address)
    assert exposure([NEW], "h1", address) is None


def test_it_says_who_would_listen_where() -> None:
    assert Exposure(("Cogen",), "h1", "192.0.2.7").text == (
        "Cogen no longer gets security fixes and would listen on 192.0.2.7 of h1, where other"
        " machines reach it"
    )
    many = Exposure(("Aspen", "Cogen", "Diesel", "Fibra", "Medusa"), "h1", "")
    assert many.text == (
        "Aspen, Cogen, Diesel and 2 more no longer get security fixes and would listen on h1,"
        " where other machines reach them"
    )


async def test_without_consent_nothing_starts() -> None:
    with pytest.raises(PongbenchError, match=r"^Cogen no longer gets .* this was not agreed to;"):
        await agreed(exposure([OLD], "h1", "192.0.2.7"), never_agree)
    assert await agreed(exposure([OLD], "h1", "127.0.0.1"), never_agree) is None
    given = await agreed(exposure([OLD], "h1", "192.0.2.7"), EXPOSE.at_terminal(yes=True))
    assert given == Exposure(("Cogen",), "h1", "192.0.2.7")


async def test_without_a_terminal_an_option_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "is_interactive", lambda: False)
    with pytest.raises(BadInput, match="there is no terminal to ask at; say --expose"):
        await EXPOSE.at_terminal(yes=False)(Exposure(("Cogen",), "h1", "192.0.2.7"))
