"""Bumble's hosts have paired. Then the peripheral has no key, or a different key."""
import asyncio

from bumble.hci import HCI_Error

from peers.bletool import soon
from peers.couple import couple
from peers.scenario import expect, scenario

KEY_MISSING, MIC_FAILURE = 0x06, 0x3D


async def steps(radio):
    async with couple(radio) as it:
        it.set_pairing(True, False)
        async with it.meet() as (peer, other):
            await it.pair(peer, other)
        await it.peripheral.keystore.delete_all()
        async with it.meet() as (peer, other):
            try:
                await soon(peer.connection.encrypt(), "encryption")
                assert False, "encrypted without a key"
            except HCI_Error as error:
                expect(error.error_code, KEY_MISSING, "the error")
            assert not peer.connection.is_encrypted and not other.is_encrypted
            # The connection remains, and the hosts pair again on it.
            await it.pair(peer, other)
        [(name, keys)] = await it.peripheral.keystore.get_all()
        keys.ltk.value = bytes(15) + b"\1"
        await it.peripheral.keystore.update(name, keys)
        async with it.meet() as (peer, other):
            ended = asyncio.get_running_loop().create_future()
            other.once("disconnection", ended.set_result)
            try:
                await soon(peer.connection.encrypt(), "encryption")
                assert False, "encrypted with different keys"
            except asyncio.CancelledError:  # the connection ends
                pass
            expect(await soon(peer.lost, "the end at the central"), MIC_FAILURE, "its reason")
            expect(await soon(ended, "the end at the peripheral"), MIC_FAILURE, "its reason")


scenario(steps)
