"""`bletool gatt … notify` prints the values that a Bumble peripheral notifies or indicates, and disconnects on Ctrl-C."""
import asyncio
import signal

from peers.bletool import bletool, running, soon
from peers.device import PERIPHERAL
from peers.gadget import ALARM, COUNTER, gadget
from peers.scenario import expect, scenario

REMOTE_USER_TERMINATED = 0x13


async def steps(radio):
    async with gadget(radio) as peripheral:
        for attribute, uuid, options, kind in [
            (peripheral.counter, COUNTER, [], "notification"),
            (peripheral.alarm, ALARM, [], "notification"),
            (peripheral.alarm, ALARM, ["--indicate"], "indication"),
        ]:
            events = await bletool(
                "gatt", PERIPHERAL, "notify", uuid, *options, "--count", 4, "--adapter", radio)
            sources = [(event["event"], event["handle"], event["uuid"]) for event in events]
            expect(sources, [(kind, attribute.handle, uuid)] * 4, "the sources")
            counts = [int.from_bytes(bytes.fromhex(event["value"]), "little") for event in events]
            expect(counts, list(range(counts[0], counts[0] + 4)), "the count")
        await bletool("gatt", PERIPHERAL, "notify", COUNTER, "--duration", "500ms", "--adapter", radio)
        async with running("gatt", PERIPHERAL, "notify", COUNTER, ALARM, "--adapter", radio) as both:
            for uuid in (COUNTER, ALARM):
                await both.event("notification", uuid=uuid)
            [connection] = peripheral.device.connections.values()
            lost = asyncio.get_running_loop().create_future()
            connection.once("disconnection", lost.set_result)
            expect(await both.stop(signal.SIGINT), -signal.SIGINT, "the end of bletool")
            expect(await soon(lost, "the end of the link"), REMOTE_USER_TERMINATED, "the reason of the link's end")


scenario(steps)
