"""`bletool serve --once` ends with 0 after its first central has disconnected, and with `--duration` after that time."""
from peers.device import CENTRAL, address_of, connected, device
from peers.scenario import expect, scenario
from peers.thermometer import serving


async def steps(radio):
    async with serving(radio, "--once") as (server, ready), device(radio, CENTRAL) as central:
        async with connected(central, address_of(ready)):
            await server.event("connected", central=CENTRAL)
        expect((await server.end())[0], 0, "the end after --once")
    async with serving(radio, "--duration", "300ms") as (server, _):
        expect((await server.end())[0], 0, "the end after --duration")


scenario(steps)
