"""`bletool pair` with a Bumble peripheral by every method. The key encrypts the next connection, which `gatt` makes."""
import asyncio

from bumble.gatt import Characteristic, Service
from bumble.keys import MemoryKeyStore

from peers.bletool import bletool, soon
from peers.device import PERIPHERAL, device
from peers.pairing import IO, agree_on_keys, level, methods, pair_with
from peers.scenario import expect, scenario

SECRET, VALUE = "fff1", b"a secret"


async def steps(radio):
    secret = Characteristic(
        SECRET, Characteristic.Properties.READ, Characteristic.READ_REQUIRES_ENCRYPTION, VALUE)
    async with device(radio, PERIPHERAL, services=[Service("fff0", [secret])], irk=bytes(range(16))) as peripheral:
        await peripheral.start_advertising(
            auto_restart=True, advertising_interval_min=50, advertising_interval_max=50)
        for number, (secure_connections, mitm, options, io) in enumerate(methods()):
            peripheral.keystore = MemoryKeyStore()
            person = pair_with(peripheral, io, secure_connections, mitm)
            stored = asyncio.get_running_loop().create_future()
            peripheral.once("key_store_update", lambda stored=stored: stored.set_result(None))
            here = ["--adapter", radio, "--state-dir", f"state{number}"]
            wanted = level(secure_connections, mitm)
            *shown, paired = await bletool("pair", PERIPHERAL, "--security", wanted, *options, *here)
            for key, value in {
                    "event": "paired", "address": PERIPHERAL, "level": wanted, "keySize": 16, "bonded": True}.items():
                expect(paired[key], value, key)
            for event in shown:
                if event["event"] == "comparison":
                    expect(int(event["passkey"]), person.seen[-1], "the number that both show")
            await soon(stored, "the key at Bumble")
            keys = await agree_on_keys(
                peripheral, PERIPHERAL, f"state{number}", secure_connections, is_central=False)
            if keys.ltk is None:
                # After legacy pairing, Bumble's responder stores its own key as the central's.
                keys.ltk_peripheral = keys.ltk_central
                [(name, _)] = await peripheral.keystore.get_all()
                await peripheral.keystore.update(name, keys)

            # The user is not asked again.
            refusing = pair_with(peripheral, IO.NO_OUTPUT_NO_INPUT, secure_connections, False)
            [read] = await bletool("gatt", PERIPHERAL, "read", SECRET, *here)
            expect(bytes.fromhex(read["value"]), VALUE, "the secret")
            expect(refusing.seen, [], "the questions to the user")


scenario(steps)
