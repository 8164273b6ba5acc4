"""Bumble subscribes to notifications and indications of `bletool serve`, counts them, and unsubscribes."""
import asyncio

from peers.bletool import soon
from peers.device import CENTRAL, address_of, characteristic, connected, device
from peers.scenario import expect, scenario
from peers.thermometer import INTERMEDIATE, TEMPERATURE, serving, value_handle


async def steps(radio):
    async with serving(radio) as (server, ready), device(radio, CENTRAL) as central:
        async with connected(central, address_of(ready)) as peer:
            for uuid, sent in ((INTERMEDIATE, "notified"), (TEMPERATURE, "confirmed")):
                source = await characteristic(peer, uuid)
                values = asyncio.Queue()
                await source.subscribe(values.put_nowait)
                await server.event("subscribed", central=CENTRAL, handle=value_handle(uuid), uuid=uuid)
                counts = [int.from_bytes(await soon(values.get(), uuid), "little") for _ in range(5)]
                expect(counts, list(range(counts[0], counts[0] + 5)), f"the counter of {uuid}")
                await server.event(sent, central=CENTRAL, handle=value_handle(uuid))
                await source.unsubscribe()
                await server.event("unsubscribed", central=CENTRAL, handle=value_handle(uuid), uuid=uuid)
            while not values.empty():
                values.get_nowait()
            try:
                late = await asyncio.wait_for(values.get(), 1)  # five times the interval
                raise AssertionError(f"{late.hex()} arrived after unsubscribing")
            except TimeoutError:
                pass


scenario(steps)
