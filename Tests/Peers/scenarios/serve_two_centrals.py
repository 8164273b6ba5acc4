"""Two Bumble centrals at once: each has its own MTU and subscriptions, and stays connected when the other disconnects."""
import asyncio

from peers.bletool import soon
from peers.device import CENTRAL, OTHER_CENTRAL, address_of, characteristic, connected, device, find
from peers.scenario import expect, scenario
from peers.thermometer import INTERMEDIATE, NAME, NOTE, serving


async def counted(values, number):
    counts = [int.from_bytes(await soon(values.get(), "a count"), "little") for _ in range(number)]
    expect(counts, list(range(counts[0], counts[0] + number)), "the counter")


async def steps(radio):
    async with (serving(radio) as (server, ready), device(radio, CENTRAL) as central,
                device(radio, OTHER_CENTRAL) as other_central):
        address = address_of(ready)
        async with connected(central, address) as peer:
            await find(other_central, NAME)
            async with connected(other_central, address) as other:
                for address_text in (CENTRAL, OTHER_CENTRAL):
                    await server.event("connected", central=address_text)
                expect(await peer.request_mtu(60), 60, "the first MTU")
                expect(await other.request_mtu(200), 200, "the second MTU")
                await (await characteristic(peer, NOTE)).write_value(b"from one", with_response=True)
                expect(await (await characteristic(other, NOTE)).read_value(), b"from one", "the value at the other central")
                values, other_values = asyncio.Queue(), asyncio.Queue()
                await (await characteristic(peer, INTERMEDIATE)).subscribe(values.put_nowait)
                await server.event("notified", central=CENTRAL)
                assert server.take("notified", central=OTHER_CENTRAL) is None
                await (await characteristic(other, INTERMEDIATE)).subscribe(other_values.put_nowait)
                await counted(other_values, 3)
            await server.event("disconnected", central=OTHER_CENTRAL)
            while not values.empty():
                values.get_nowait()
            await counted(values, 3)


scenario(steps)
