"""A Bumble central violates the pairing protocol. `bletool serve` sends the reason of each error, and pairs afterwards."""
import asyncio

from bumble.keys import MemoryKeyStore

from peers.bletool import soon
from peers.device import CENTRAL, address_of, connected, device, rename
from peers.pairing import IO, pair_with
from peers.raw import Frames
from peers.scenario import expect, scenario
from peers.security import (
    AUTHENTICATION, CHECK, CONFIRM, DEBUG, FAILED, KEY_SIZE, NOT_KNOWN, NOWHERE, OOB_NOT_AVAILABLE, PARAMETERS,
    REPEATED, RESERVED, SECURE, SECURITY, UNSPECIFIED, PublicKey, features, misshapen, packet)
from peers.thermometer import serving

READ = "080100ffff002a"  # reading the device name by type
REQUEST, SECURE_REQUEST = features(1), features(1, authentication=SECURE)
KEY = PublicKey()

# Without a pairing: commands that a peripheral does not support, and commands that require a pairing.
ALONE = {code: NOT_KNOWN if code in (0x02, 0x0B) else UNSPECIFIED for code in range(2, 15) if code != FAILED}
FEATURES = {
    features(1, io=5): PARAMETERS, features(1, io=255): PARAMETERS, features(1, oob=2): PARAMETERS,
    features(1, key_size=17): PARAMETERS, features(1, key_size=255): PARAMETERS,
    features(1, key_size=6): KEY_SIZE, features(1, key_size=0): KEY_SIZE, features(1, key_size=15): KEY_SIZE,
    features(1, oob=1, authentication=SECURE): OOB_NOT_AVAILABLE,
}
# In a pairing: the valid packets with the codes of their answers, the wrong packet, and the reason of its answer.
LEGACY, SECURED = [(REQUEST, ["02"])], [(SECURE_REQUEST, ["02"])]
KEYS = SECURED + [(KEY.packet, ["0c", "03"])]
WRONG = {
    "a second Pairing Request": (LEGACY, REQUEST, UNSPECIFIED),
    "a second Pairing Request, truncated": (LEGACY, REQUEST[:-2], PARAMETERS),
    "a truncated confirm value": (LEGACY, packet(0x03, 16), PARAMETERS),
    "a confirm value too long": (LEGACY, packet(0x03, 18), PARAMETERS),
    "a second confirm value": (LEGACY + [(packet(0x03), ["03"])], packet(0x03), UNSPECIFIED),
    "a random number before its confirm value": (LEGACY, packet(0x04), UNSPECIFIED),
    "a random number that was not confirmed": (LEGACY + [(packet(0x03), ["03"])], packet(0x04), CONFIRM),
    "a public key in legacy pairing": (LEGACY, KEY.packet, UNSPECIFIED),
    "a key before encryption": (LEGACY, packet(0x06), UNSPECIFIED),
    "an identity before encryption": (LEGACY, packet(0x09), UNSPECIFIED),
    "key presses that were not agreed on": (LEGACY, "0e01", UNSPECIFIED),
    "a Security Request of a central": (LEGACY, "0b01", NOT_KNOWN),
    "a Pairing Response of a central": (LEGACY, features(2), NOT_KNOWN),
    "a truncated public key": (SECURED, KEY.packet[:-2], PARAMETERS),
    "a point that is not on the curve": (SECURED, KEY.beside_the_curve, CHECK),
    "the point (0, 0)": (SECURED, NOWHERE, CHECK),
    "the debug key": (SECURED, DEBUG, AUTHENTICATION),
    "a second public key": (KEYS, KEY.packet, UNSPECIFIED),
    "a confirm value of a central": (KEYS, packet(0x03), UNSPECIFIED),
    "a check before the random number": (KEYS, packet(0x0D), UNSPECIFIED),
    "a wrong check": (KEYS + [(packet(0x04), ["04"])], packet(0x0D), CHECK),
}


async def goes_wrong(frames, name, what, before, wrong, reason):
    for sent, answers in before:
        frames.send(sent, SECURITY)
        for code in answers:
            answer = await frames.answer(SECURITY)
            expect(answer[:2], code, f"the answer {answer} to {sent} before {what}")
        # These codes are reserved.
        for reserved in RESERVED:
            frames.send(reserved, SECURITY)
    expect(await frames.ask(wrong, SECURITY), reason, f"the answer to {what}")
    expect(await frames.ask(READ), name, f"the answer to a read after {what}")


async def steps(radio):
    async with serving(radio) as (server, ready), device(radio, CENTRAL) as central:
        async with connected(central, address_of(ready)) as peer:
            frames = Frames(peer.connection)
            name = await frames.ask(READ)
            for wrong in misshapen():
                frames.send(wrong, SECURITY)
                if int(wrong[:2], 16) != FAILED:
                    expect(await frames.answer(SECURITY), PARAMETERS, f"the answer to {wrong}")
            for code, reason in ALONE.items():
                expect(await frames.ask(packet(code), SECURITY), reason, f"the answer to code {code}")
            for ignored in RESERVED + ["", "0508", "05ff"]:
                frames.send(ignored, SECURITY)
                expect(await frames.ask(READ), name, f"the answer to a read after {ignored}")
            for request, reason in FEATURES.items():
                expect(await frames.ask(request, SECURITY), reason, f"the answer to {request}")
        # A peer that has failed must wait, so each attempt uses another address.
        for number, (what, (before, wrong, reason)) in enumerate(WRONG.items()):
            await rename(central, f"F1:00:00:00:00:{number:02X}")
            async with connected(central, address_of(ready)) as peer:
                await goes_wrong(Frames(peer.connection), name, what, before, wrong, reason)
        await rename(central, CENTRAL)
        async with connected(central, address_of(ready)) as peer:
            frames = Frames(peer.connection)
            for _ in range(100):
                frames.send(REQUEST, SECURITY)
            frames.send(READ)
            expect(await frames.skip_to(), name, "the answer to a read after 100 Pairing Requests")
            expect(await frames.ask(REQUEST, SECURITY), REPEATED, "the answer to one more")
            frames.release()
        await asyncio.sleep(1.1)  # a peer must wait 1 s after one failed attempt
        central.keystore = MemoryKeyStore()
        pair_with(central, IO.NO_OUTPUT_NO_INPUT, True, False)
        async with connected(central, address_of(ready)) as peer:
            await soon(peer.connection.pair(), "pairing")
            await server.event("security", central=CENTRAL, level="medium", bonded=True)
        assert server.process.returncode is None


scenario(steps)
