"""Bumble's hosts pair with each other over the radio, in legacy pairing and in LE Secure Connections, and encrypt the
next connections with the stored keys."""
from bumble.att import ATT_Error

from peers.bletool import soon
from peers.couple import IO, VALUE, couple
from peers.scenario import expect, scenario

METHODS = {
    "just works": (False, IO.NO_OUTPUT_NO_INPUT, IO.NO_OUTPUT_NO_INPUT),
    "the central's number": (True, IO.DISPLAY_OUTPUT_ONLY, IO.KEYBOARD_INPUT_ONLY),
    "the peripheral's number": (True, IO.KEYBOARD_INPUT_ONLY, IO.DISPLAY_OUTPUT_ONLY),
    "comparison": (True, IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT, IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT),
}


async def pairs(it, secure_connections, mitm, *ios):
    it.forget()
    it.set_pairing(secure_connections, mitm, *ios)
    async with it.meet() as (peer, other):
        try:
            await it.read(peer)
            assert False, "read without encryption"
        except ATT_Error:
            pass
        ours, theirs = await it.pair(peer, other)
        expect(ours.value, theirs.value, "the key")
        expect(await it.read(peer), VALUE, "the secret")
    for _ in range(2):
        async with it.meet() as (peer, other):
            assert not peer.connection.is_encrypted and not other.is_encrypted
            await soon(peer.connection.encrypt(), "encryption")
            expect(await it.read(peer), VALUE, "the secret")
            assert other.is_encrypted


async def steps(radio):
    async with couple(radio) as it:
        for secure_connections in (False, True):
            for name, method in METHODS.items():
                print(name, "secure connections" if secure_connections else "legacy", flush=True)
                # Legacy pairing has no comparison of numbers, so two devices with yes/no input pair by Just Works.
                await pairs(it, secure_connections, *method)


scenario(steps)
