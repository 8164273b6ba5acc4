"""A thousand notifications that Bumble sends at once arrive at `bletool gatt` complete and in order."""
import asyncio

from bumble.gatt import Characteristic, Service

from peers.bletool import running, soon
from peers.device import PERIPHERAL, device
from peers.scenario import expect, scenario

SERVICE, SOURCE = "5b1e0000-0c64-4d6e-9bb5-1f2a8d1e6a30", "5b1e0001-0c64-4d6e-9bb5-1f2a8d1e6a30"
VALUES = [number.to_bytes(2, "little") * 100 for number in range(1000)]


async def steps(radio):
    source = Characteristic(SOURCE, Characteristic.Properties.NOTIFY, Characteristic.READABLE, b"")
    subscribed = asyncio.get_running_loop().create_future()
    source.once("subscription", lambda *_: subscribed.set_result(None))
    async with device(radio, PERIPHERAL, services=[Service(SERVICE, [source])]) as peripheral:
        await peripheral.start_advertising()
        words = ["gatt", PERIPHERAL, "notify", SOURCE, "--count", len(VALUES), "--adapter", radio]
        async with running(*words) as client:
            await soon(subscribed, "a subscription")
            for value in VALUES:
                await peripheral.notify_subscribers(source, value)
            code, events = await client.end(seconds=30)
            expect(code, 0, "the exit code")
            expect([event["value"] for event in events], [value.hex() for value in VALUES], "the values")


scenario(steps)
