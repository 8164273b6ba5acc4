"""A thousand write commands that Bumble sends at once arrive at `bletool serve` complete and in order."""
from peers.device import CENTRAL, address_of, characteristic, connected, device
from peers.scenario import expect, scenario
from peers.thermometer import COMMAND, serving, value_handle

VALUES = [number.to_bytes(2, "little") * 100 for number in range(1000)]


async def steps(radio):
    async with serving(radio) as (server, ready), device(radio, CENTRAL) as central:
        async with connected(central, address_of(ready)) as peer:
            await peer.request_mtu(247)
            target = await characteristic(peer, COMMAND)
            for value in VALUES:
                await target.write_value(value)
            expect(await target.read_value(), VALUES[-1], "the value at the end")
            for value in VALUES:
                written = await server.event("write", handle=value_handle(COMMAND))
                expect(written["value"], value.hex(), "the next value")


scenario(steps)
