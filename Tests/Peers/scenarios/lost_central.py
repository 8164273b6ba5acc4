"""A Bumble central that disappears without disconnecting is reported as lost, and `bletool serve` advertises again."""
from peers.device import CENTRAL, OTHER_CENTRAL, address_of, characteristic, connected, device, find
from peers.scenario import expect, scenario
from peers.thermometer import NAME, NOTE, serving

# The reasons for a peer that has disappeared: the supervision timeout, or, with RootCanal, a power-off of the peer.
LOSSES = (0x08, 0x15)


async def steps(radio):
    async with (serving(radio, "--max-links", 1) as (server, ready),
                device(radio, OTHER_CENTRAL) as other_central):
        async with device(radio, CENTRAL) as central:
            connection = await central.connect(address_of(ready))
            await server.event("connected", central=CENTRAL)
            await connection.gatt_client.discover_services()
        lost = await server.event("disconnected", central=CENTRAL)
        assert lost["reason"] in LOSSES, f"the reason: {lost['reason']}"
        await find(other_central, NAME)
        async with connected(other_central, address_of(ready)) as peer:
            expect(await (await characteristic(peer, NOTE)).read_value(), b"hello", "another central's read")


scenario(steps)
