"""`bletool serve` with Bumble's central, recorded at its adapter: discovery, reads, writes, prepared writes, notifications,
indications, errors."""
import asyncio
import signal
from pathlib import Path

from bumble.att import ATT_Error

from peers.bletool import soon
from peers.device import CENTRAL, address_of, characteristic, connected, device
from peers.raw import Frames
from peers.scenario import expect, scenario
from peers.thermometer import (
    BATTERY, COMMAND, INTERMEDIATE, LIMITED, LONG, NOTE, SECRET, TEMPERATURE, serving, value_handle)

MTU = 64
LONG_VALUE = bytes(range(100))


def handle(uuid):
    return value_handle(uuid).to_bytes(2, "little").hex()


async def pushes(peer, uuid, count):
    """Subscribes, waits for `count` values, and unsubscribes."""
    source, values = await characteristic(peer, uuid), asyncio.Queue()
    await source.subscribe(values.put_nowait)
    for _ in range(count):
        await soon(values.get(), uuid)
    await source.unsubscribe()


async def use(peer):
    await peer.discover_all()
    for service in peer.services:
        await peer.discover_included_services(service)
    note, command, long = [await characteristic(peer, uuid) for uuid in (NOTE, COMMAND, LONG)]
    expect(await note.read_value(), b"hello", "a short value")
    expect(await peer.request_mtu(MTU), MTU, "MTU")
    await long.read_value()
    await note.write_value(b"written", with_response=True)
    await command.write_value(b"\x2a", with_response=False)
    await long.write_value(LONG_VALUE, with_response=True)
    for target, value in ((note, b"written"), (command, b"\x2a"), (long, LONG_VALUE)):
        expect(await target.read_value(), value, "what was written")
    await pushes(peer, INTERMEDIATE, 3)
    await pushes(peer, TEMPERATURE, 3)
    for attempt in [
        (await characteristic(peer, SECRET)).read_value(),
        (await characteristic(peer, BATTERY)).write_value(b"\0", with_response=True),
        (await characteristic(peer, LIMITED)).write_value(bytes(5), with_response=True),
    ]:
        try:
            await attempt
            raise AssertionError("an operation that must be refused succeeded")
        except ATT_Error:
            pass


async def use_rarely_seen(att):
    """Sends requests that Bumble's client does not send: reads of several values, and prepared writes that are cancelled."""
    expect((await att.ask(f"0e{handle(NOTE)}{handle(BATTERY)}"))[:2], "0f", "Read Multiple")
    expect((await att.ask(f"20{handle(NOTE)}{handle(BATTERY)}"))[:2], "21", "Read Multiple Variable")
    expect((await att.ask(f"16{handle(NOTE)}000061"))[:2], "17", "a part")
    expect(await att.ask("1800"), "19", "cancelling")
    expect((await att.ask(f"16{handle(NOTE)}070021"))[:2], "17", "another part")
    expect(await att.ask("1801"), "19", "executing")
    expect(await att.ask(f"0a{handle(NOTE)}"), "0b" + b"written!".hex(), "the second part alone")


async def steps(radio):
    async with serving(radio, "--capture", "serve-bumble.btsnoop") as (server, ready):
        async with device(radio, CENTRAL) as central:
            async with connected(central, address_of(ready)) as peer:
                await use(peer)
                await use_rarely_seen(Frames(peer.connection))
            await server.event("disconnected", central=CENTRAL)
        await server.stop(signal.SIGINT)
    Path("thermometer.yaml").rename("serve-bumble.yaml")


scenario(steps)
