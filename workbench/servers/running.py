"""Servers that are running already: asked and measured, never started, confined or ended."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from dataclasses import replace

import msgspec

from workbench.consent import is_loopback
from workbench.errors import BadInput
from workbench.formatting import capital, continued, duration, number_of
from workbench.machines.base import SAMPLER, Machine, answer
from workbench.machines.runner_client import Command
from workbench.machines.secrets import named
from workbench.machines.wire import InvalidMessage, quoted
from workbench.remote.agent.addresses import UNIX
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.request import http_request
from workbench.servers.address import Contact, Running
from workbench.servers.catalogue import entry_of
from workbench.servers.deployment import Deployment, NotOurs, Owner
from workbench.servers.entry import ServerEntry
from workbench.untrusted import safe
from workbench.workloads.http.requests import Request
from workbench.workloads.wire import Fault, Wire

_DECODER = msgspec.json.Decoder(Owner)


async def owner_of(machine: Machine, contact: Contact) -> Owner:
    """Return the processes that a plan names, or the owner of the server's port, or why not."""
    kind, _, value = contact.process.partition(":")
    address = contact.address
    if not kind and not address.port:
        kind, value = "socket", address.host
    asked = {
        "kind": kind or "port",
        "value": value or str(address.port),
        "address": "" if kind else contact.used,
        "port": address.port,
    }
    program = await machine.tool(SAMPLER)
    line = msgspec.json.encode(asked).decode()
    process = await machine.start(Command([*machine.python, program, "owner", line]))
    try:
        found = await answer(process, _DECODER)
    except InvalidMessage as error:
        return Owner(why=f"{machine.name} cannot report its processes: {error}")
    return msgspec.structs.replace(found, why=quoted(found.why))


WITHIN_S = 5.0


async def resolved(entry: ServerEntry) -> ServerEntry:
    """Return it with its IP addresses, the first as the one to use. Raises BadInput."""
    contact = entry.running
    assert contact
    address = contact.address
    if not address.port:
        there = (f"{UNIX}{address.host}",)
        return msgspec.structs.replace(entry, running=replace(contact, addresses=there))
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM
        )
    except OSError as error:
        raise BadInput(
            f"{address.host} of {address.text} has no address ({_reason(error)}); correct its name."
        ) from None
    addresses = tuple(dict.fromkeys(str(each[4][0]) for each in found))
    return msgspec.structs.replace(entry, running=replace(contact, addresses=addresses))


def is_here(entry: ServerEntry, machine: Machine, reach: str) -> bool:
    """Whether a resolved server is on the target. `reach`: where clients reach that."""
    contact = entry.running
    assert contact
    if contact.process or not contact.address.port:
        return True
    if machine.is_local:
        return all(is_own(address) for address in contact.addresses)
    first = contact.addresses[0]
    return first in (reach, machine.reach) or is_loopback(first)


def is_own(address: str) -> bool:
    """Whether an address is one of this computer."""
    if is_loopback(address):
        return True
    with contextlib.suppress(OSError):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
            return True
    return False


async def changed(deployment: Deployment) -> str:
    """Return how its processes were changed by others since the last time, as the end of a
    sentence; empty: they were not, or it is ours."""
    before, contact = deployment.owner, deployment.entry.running
    if contact is None or before is None or not deployment.known:
        return ""
    deployment.owner = await owner_of(deployment.machine, contact)
    return deployment.owner.changed_since(before)


async def attach(machine: Machine, entry: ServerEntry, *, here: bool) -> Deployment:
    """Reach a resolved server. `here`: it is on the machine. Raises BadInput where nothing answers
    or its certificate is not valid, PongbenchError where a named process is not there."""
    contact = entry.running
    assert contact
    address, tls = contact.address, None
    if not address.port and not machine.is_local:
        raise BadInput(f"{address.text} can be measured from its own machine only.")
    async with contextlib.AsyncExitStack() as routes:
        contact, near = await _reached(contact, routes, machine if here else None)
        if address.tls:
            tls, certificate = await _certified(contact, near)
            contact = replace(contact, certificate=certificate)
        found = Owner(why="it is not on the target")
        if here:
            found = await owner_of(machine, contact)
        listening = await machine.listening(address.port) if here and address.port else None
        if contact.process and found.why:
            raise BadInput(
                f"{address.text}, process {contact.process}: {found.why}; name another, or leave"
                " it out."
            )
        return Deployment(
            entry=msgspec.structs.replace(entry, running=contact, unequal=_unequal(contact, found)),
            machine=machine,
            process=NotOurs(),
            host=contact.used,
            port=address.port,
            near=near,
            runtime=f"running already{f', {found.text}' if found.text else ''}",
            version="",
            files={},
            tls=tls,
            tls_name=address.host,
            known=found.known,
            owner=found,
            here=here,
            backlog=listening[1] if listening else 0,
            routes=routes.pop_all(),
        )


async def wire_to(entry: ServerEntry) -> Wire:
    """Return connections from this computer to a running server. Raises BadInput."""
    contact = (await resolved(entry)).running
    assert contact
    async with contextlib.AsyncExitStack() as routes:
        contact, near = await _reached(contact, routes)
    tls = (await _certified(contact, near))[0] if contact.address.tls else None
    return Wire(*near, tls=tls, tls_name=contact.address.host)


async def _reached(
    contact: Contact, routes: contextlib.AsyncExitStack, machine: Machine | None = None
) -> tuple[Contact, tuple[str, int]]:
    """Return it with the first of its addresses at which it accepts a connection, and where this
    program reaches that. `machine`: the target, if it is there. Raises BadInput."""
    address, silent = contact.address, ""
    for used in [contact.used] if contact.used else contact.addresses:
        near = used, address.port
        if machine is not None:
            near = await routes.enter_async_context(machine.route_to(used, address.port))
        try:
            await Wire(*near, patience_s=WITHIN_S).connect()
        except Fault as fault:
            silent = continued(str(fault))
        else:
            return replace(contact, used=used), near
    raise BadInput(
        f"{address.text} cannot be measured: {silent} Start the server, or correct the address."
    )


def _unequal(contact: Contact, found: Owner) -> list[str]:
    why = capital(found.why)
    unknown = f"{why}, so its CPU time and memory are unknown." if why else ""
    insecure = "Its certificate was not checked." if contact.insecure else ""
    several = ""
    if len(contact.addresses) > 1:
        others = ", ".join(each for each in contact.addresses if each != contact.used)
        several = f"{contact.address.host} has several addresses; {contact.used} was measured,"
        several += f" not {others}."
    return [text for text in (unknown, insecure, several) if text]


async def _certified(contact: Contact, near: tuple[str, int]) -> tuple[ssl.SSLContext, str]:
    """Return the context of its clients, and as PEM the certificate that it presented and a browser
    would accept; empty: it is not checked. Raises BadInput."""
    address = contact.address
    context = ssl.create_default_context()
    if contact.insecure:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(WITHIN_S):
            _, writer = await asyncio.open_connection(
                *near, ssl=context, server_hostname=address.host
            )
    except ssl.SSLCertVerificationError as error:
        raise BadInput(
            f"The certificate of {address.text} is not valid: {error.verify_message};"
            " a browser would refuse it, too. Renew it, or use --insecure."
        ) from None
    except TimeoutError:
        raise BadInput(
            f"{address.text} completed no TLS handshake within {WITHIN_S:g} s."
        ) from None
    except OSError as error:
        scheme = address.scheme
        raise BadInput(
            f"{address.text} speaks no TLS ({_reason(error)}); try {scheme[:-1]}:// in place of"
            f" {scheme}://."
        ) from None
    presented = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return context, "" if contact.insecure else ssl.DER_cert_to_PEM_cert(presented)


def _reason(error: OSError) -> str:
    reason: str = getattr(error, "reason", None) or error.strerror or str(error) or "closed"
    return reason.lower().replace("_", " ")


async def send_once(
    address: str, request: Request, *, protocol: str, insecure: bool = False
) -> tuple[str, str]:
    """Send the bytes that an agent would send. Returns a line with status, time and size, and the
    reply as text. Raises BadInput."""
    if request.method == "HEAD":
        raise BadInput("A reply to HEAD has no body and is not read here; send GET.")
    entry = entry_of(address, Running(insecure=insecure))
    secrets = await named(request.secrets)
    wire = await wire_to(entry)
    if protocol in ("http/2", "h2c"):
        from workbench.workloads.http.http2_gate import Http2Wire  # noqa: PLC0415  it brings h2

        wire = Http2Wire.like(wire)
    assert entry.running
    sent = msgspec.structs.replace(
        request,
        path=entry.path if request.path == "/" else request.path,
        headers={"Host": entry.running.address.authority, **request.headers},
    )
    load = Load(wire.host, wire.port, "http", options={"protocol": protocol})
    try:
        (reply,) = await wire.one_by_one(http_request(load, sent.driven(secrets)), 1)
    except Fault as fault:
        raise BadInput(f"{entry.name} sent no reply: {continued(str(fault))}") from None
    kind = f", {reply.content_type}" if reply.content_type else ""
    size = number_of(reply.body_bytes, "bytes")
    line = f"{reply.status} in {duration(reply.took_s * 1e6)}, {size}{kind}"
    head = reply.raw.partition(b"\r\n\r\n")[0].decode("latin-1").replace("\r\n", "\n")
    return safe(line), safe(f"{head}\n\n{reply.body.decode(errors='replace')}")
