"""Bumble receives indications of temperatures from the thermometer of Examples, and reads its manufacturer."""
import asyncio
import signal

from peers.bletool import soon
from peers.device import CENTRAL, characteristic, connected, device, find
from peers.example import example
from peers.scenario import expect, scenario


async def steps(radio):
    async with example("thermometer", radio, "Ward 3") as thermometer, device(radio, CENTRAL) as central:
        address = (await find(central, "Ward 3")).address
        async with connected(central, address) as peer:
            await thermometer.line("connected")
            maker = await characteristic(peer, "2a29")
            expect(await maker.read_value(), b"Examples", "the manufacturer")
            values = asyncio.Queue()
            measurement = await characteristic(peer, "2a1c")
            await measurement.subscribe(values.put_nowait, prefer_notify=False)
            await thermometer.line("subscribed")
            for _ in range(2):
                value = await soon(values.get(), "a temperature")
                expect((len(value), value[0], value[4]), (5, 0, 0xFE), "flags and exponent")
                celsius = int.from_bytes(value[1:4], "little", signed=True) / 100
                assert -40 <= celsius <= 125, f"{celsius} degrees"
            await measurement.unsubscribe()
            await thermometer.line("unsubscribed")
        await thermometer.line("disconnected")
        async with connected(central, address) as peer:
            expect(await thermometer.stop(), -signal.SIGINT, "the end of the thermometer")
            expect(await soon(peer.lost, "the end of the link"), 0x13, "the reason of the link's end")


scenario(steps)
