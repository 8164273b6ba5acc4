"""A Bumble peripheral violates the pairing protocol. `bletool pair` sends the reason of each error, and ends with 6."""
import asyncio

from bumble.crypto import f4
from bumble.keys import MemoryKeyStore

from peers.bletool import bletool, running, soon
from peers.device import PERIPHERAL, device
from peers.pairing import IO, pair_with
from peers.raw import Frames
from peers.scenario import expect, scenario
from peers.security import (
    CHECK, CONFIRM, DEBUG, AUTHENTICATION, KEY_SIZE, NOT_KNOWN, NOWHERE, OOB_NOT_AVAILABLE, PARAMETERS, RESERVED,
    SECURE, SECURITY, UNSPECIFIED, PublicKey, features, packet)

RESPONSE, SECURE_RESPONSE = features(2), features(2, authentication=SECURE)
KEY = PublicKey()
NONCE = bytes(range(16))


def last(frame):
    """Returns a function that answers with one packet, independent of the packets before."""
    return lambda asked: frame


def same(asked):
    """Answers with the last packet that arrived."""
    return asked[-1]


def negated(asked):
    """Answers with the public key that arrived, with its Y negated. Its X is the same."""
    prime = 2**256 - 2**224 + 2**192 + 2**96 - 1
    y = prime - int.from_bytes(bytes.fromhex(asked[-1][66:]), "little")
    return asked[-1][:66] + y.to_bytes(32, "little").hex()


def commitment(asked):
    """Answers with the confirm value of NONCE (2.3.5.6.2)."""
    return "03" + f4(KEY.x, bytes.fromhex(asked[-1][2:66]), NONCE, bytes(1)).hex()


# Answers in order, each to a packet that begins with that code, and the reason at the end.
LEGACY, SECURED = [("01", last(RESPONSE))], [("01", last(SECURE_RESPONSE))]
KEYS = SECURED + [("0c", commitment)]  # the public key is sent before the confirm value
WRONG = {
    "a truncated response": ([("01", last(RESPONSE[:-2]))], PARAMETERS),
    "a response too long": ([("01", last(RESPONSE + "00"))], PARAMETERS),
    "IO capability 5": ([("01", last(features(2, io=5)))], PARAMETERS),
    "OOB data flag 2": ([("01", last(features(2, oob=2)))], PARAMETERS),
    "key size 17": ([("01", last(features(2, key_size=17)))], PARAMETERS),
    "key size 6": ([("01", last(features(2, key_size=6)))], KEY_SIZE),
    "key size 15": ([("01", last(features(2, key_size=15)))], KEY_SIZE),
    "out-of-band data that are not available": ([("01", last(features(2, oob=1, authentication=SECURE)))], OOB_NOT_AVAILABLE),
    "a confirm value instead of a response": ([("01", last(packet(0x03)))], UNSPECIFIED),
    "a public key instead of a response": ([("01", last(KEY.packet))], UNSPECIFIED),
    "a Pairing Request of a peripheral": ([("01", last(features(1)))], NOT_KNOWN),
    "a second response": (LEGACY + [("03", last(RESPONSE))], UNSPECIFIED),
    "a truncated confirm value": (LEGACY + [("03", last(packet(0x03, 16)))], PARAMETERS),
    "the confirm value sent back": (LEGACY + [("03", same)], CONFIRM),
    "a random number instead of a confirm value": (LEGACY + [("03", last(packet(0x04)))], UNSPECIFIED),
    "a random number that was not confirmed": (
        LEGACY + [("03", last(packet(0x03))), ("04", last(packet(0x04)))], CONFIRM),
    "a key before encryption": (LEGACY + [("03", last(packet(0x06)))], UNSPECIFIED),
    "the public key sent back": (SECURED + [("0c", same)], CHECK),
    "the public key sent back, negated": (SECURED + [("0c", negated)], CHECK),
    "a point that is not on the curve": (SECURED + [("0c", last(KEY.beside_the_curve))], CHECK),
    "the point (0, 0)": (SECURED + [("0c", last(NOWHERE))], CHECK),
    "the debug key": (SECURED + [("0c", last(DEBUG))], AUTHENTICATION),
    "a public key too long": (SECURED + [("0c", last(KEY.packet + "00"))], PARAMETERS),
    "a number that was not confirmed": (KEYS + [("04", last(packet(0x04)))], CONFIRM),
    "a wrong check": (KEYS + [("04", last("04" + NONCE.hex())), ("0d", last(packet(0x0D)))], CHECK),
}


async def goes_wrong(peripheral, here, what, answers, reason):
    connected = asyncio.get_running_loop().create_future()
    peripheral.once("connection", lambda connection: connected.set_result(Frames(connection, only=SECURITY)))
    async with running("pair", PERIPHERAL, *here) as run:
        frames = await soon(connected, "a connection")
        asked = []
        for code, answer in answers:
            asked.append(await frames.answer(SECURITY))
            expect(asked[-1][:2], code, f"the code of {asked[-1]} before {what}")
            for reserved in RESERVED:
                frames.send(reserved, SECURITY)
            if answer is commitment:
                frames.send(KEY.packet, SECURITY)
            frames.send(answer(asked), SECURITY)
        expect(await frames.answer(SECURITY), reason, f"the answer to {what}")
        code, events = await run.end()
        expect(code, 6, f"the exit code after {what}")
        run.expect_error(events)
        frames.release()


async def steps(radio):
    async with device(radio, PERIPHERAL) as peripheral:
        await peripheral.start_advertising(
            auto_restart=True, advertising_interval_min=50, advertising_interval_max=50)
        here = ["--adapter", radio, "--state-dir", "state"]
        for what, (answers, reason) in WRONG.items():
            await goes_wrong(peripheral, here, what, answers, reason)

        # Many Security Requests have the effect of one, and the pairing succeeds.
        peripheral.keystore = MemoryKeyStore()
        pair_with(peripheral, IO.NO_OUTPUT_NO_INPUT, True, False)

        def storm(connection):
            for _ in range(100):
                connection.send_l2cap_pdu(SECURITY, bytes.fromhex("0b01"))

        peripheral.once("connection", storm)
        [paired] = await bletool("pair", PERIPHERAL, *here)
        expect((paired["level"], paired["bonded"]), ("medium", True), "the result of the pairing")


scenario(steps)
