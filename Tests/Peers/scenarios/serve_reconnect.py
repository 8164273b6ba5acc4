"""Bumble connects again twice: `bletool serve` advertises again, and keeps the values but not the state of the client."""
import signal

from bumble.gatt import GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR as CONFIGURATION

from peers.device import CENTRAL, address_of, characteristic, connected, device, find
from peers.scenario import expect, scenario
from peers.thermometer import INTERMEDIATE, NAME, NOTE, serving

REMOTE_USER_TERMINATED = 0x13


async def steps(radio):
    async with serving(radio) as (server, ready), device(radio, CENTRAL) as central:
        for round in range(3):
            await find(central, NAME)
            async with connected(central, address_of(ready)) as peer:
                await server.event("connected", central=CENTRAL)
                note = await characteristic(peer, NOTE)
                expect(await note.read_value(), b"note %d" % (round - 1) if round else b"hello", "the value")
                await note.write_value(b"note %d" % round, with_response=True)
                await (await characteristic(peer, INTERMEDIATE)).subscribe()
                await server.event("subscribed", central=CENTRAL)
                expect(await peer.request_mtu(100 + round), 100 + round, "MTU")
            await server.event("disconnected", central=CENTRAL, reason=REMOTE_USER_TERMINATED)
        async with connected(central, address_of(ready)) as peer:
            subscription = (await characteristic(peer, INTERMEDIATE)).get_descriptor(CONFIGURATION)
            expect(await subscription.read_value(), bytes(2), "the subscription of a client without a bond")
            expect(await server.stop(signal.SIGTERM), -signal.SIGTERM, "the end of bletool")
            expect(await peer.lost, REMOTE_USER_TERMINATED, "the reason of the link's end")


scenario(steps)
