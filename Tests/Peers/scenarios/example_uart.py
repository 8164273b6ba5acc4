"""The UART bridge of Examples with a Bumble central on the other side."""
import asyncio
import signal

from peers.bletool import soon
from peers.device import CENTRAL, characteristic, connected, device, find
from peers.example import example
from peers.scenario import expect, scenario

RECEIVE = "6e400002-b5a3-f393-e0a9-e50e24dcca9e"
TRANSMIT = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"


async def steps(radio):
    async with example("uart-bridge", radio, "Line") as bridge, device(radio, CENTRAL) as central:
        async with connected(central, (await find(central, "Line")).address) as peer:
            values = asyncio.Queue()
            await (await characteristic(peer, TRANSMIT)).subscribe(values.put_nowait)
            receive = await characteristic(peer, RECEIVE)
            await receive.write_value(b"from Bumble\n")
            await bridge.line("^from Bumble$")
            # Longer than one notification.
            text = b"typed at the line " * 10 + b"\n"
            bridge.process.stdin.write(text)
            came = b""
            while len(came) < len(text):
                came += await soon(values.get(), "what was typed")
            expect(came, text, "what was typed")
        expect(await bridge.stop(), -signal.SIGINT, "the end of the bridge")


scenario(steps)
