"""Bumble's hosts have paired. Their controllers generate and resolve the private addresses of both. A host without the keys
cannot identify the devices."""
import asyncio

from bumble.core import TimeoutError
from bumble.hci import OwnAddressType

from peers.bletool import soon
from peers.couple import VALUE, couple
from peers.device import CENTRAL, OTHER_CENTRAL, PERIPHERAL, device
from peers.scenario import expect, scenario

HIDDEN = OwnAddressType.RESOLVABLE_OR_RANDOM


def expect_hidden(connection, identity):
    """Checks that the peer is known by its identity and has used another address. Returns that address."""
    expect(str(connection.peer_address), identity, "the peer")
    shown = connection.peer_resolvable_address
    assert shown is not None and shown.is_resolvable, f"{identity} uses the address {shown}"
    return shown


async def steps(radio):
    settings = {"address_resolution_offload": True, "address_generation_offload": True}
    async with couple(radio, **settings) as it, device(radio, OTHER_CENTRAL) as stranger:
        it.set_pairing(True, False)
        async with it.meet() as (peer, other):
            await it.pair(peer, other)
        for _ in range(2):
            async with it.meet(HIDDEN) as (peer, other):
                expect_hidden(peer.connection, PERIPHERAL)
                expect_hidden(other, CENTRAL)
                await soon(peer.connection.encrypt(), "encryption")
                expect(await it.read(peer), VALUE, "the secret")
        # A peer whose key is known, but which advertises with its identity address, is not received.
        await it.advertise()
        try:
            await it.central.connect(it.peripheral.static_address, own_address_type=HIDDEN, timeout=1)
            assert False, "connected to an identity address"
        except TimeoutError:
            pass
        await it.peripheral.stop_advertising()
        # A host without the key receives the peripheral with a private address.
        received = asyncio.get_running_loop().create_future()
        stranger.once("advertisement", received.set_result)
        await it.advertise(HIDDEN)
        await stranger.start_scanning()
        address = (await soon(received, "an advertisement")).address
        assert address.is_resolvable, f"{address} is not private"
        await stranger.stop_scanning()


scenario(steps)
