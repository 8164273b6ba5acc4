"""A Bumble central pairs with `bletool serve` by every method, and encrypts its next connection with the key."""
import asyncio
import json
from pathlib import Path

from bumble.att import ATT_Error
from bumble.keys import MemoryKeyStore

from peers.bletool import running, soon
from peers.device import CENTRAL, address_of, characteristic, connected, device
from peers.pairing import agree_on_keys, level, methods, pair_with
from peers.scenario import expect, scenario

SECRET, VALUE = "fff1", b"a secret"
NEEDS = {False: "encrypted", True: "authenticated"}


async def pairs(radio, central, number, secure_connections, mitm, options, io):
    config = {"name": "Secrets", "advertise": {"services": ["fff0"], "interval": "50ms"}, "services": [
        {"uuid": "fff0", "characteristics": [{
            "uuid": SECRET, "properties": ["read"], "permissions": {"read": NEEDS[mitm]},
            "value": {"utf8": VALUE.decode()}}]}]}
    Path("secrets.yaml").write_text(json.dumps(config))
    central.keystore = MemoryKeyStore()
    person = pair_with(central, io, secure_connections, mitm)
    async with running(
            "serve", "secrets.yaml", "--adapter", radio, "--state-dir", f"state{number}", *options) as server:
        ready = await server.event("ready")
        stored = asyncio.get_running_loop().create_future()
        central.once("key_store_update", lambda: stored.set_result(None))
        async with connected(central, address_of(ready)) as peer:
            secret = await characteristic(peer, SECRET)
            try:
                await soon(secret.read_value(), "the secret")
                assert False, "read without encryption"
            except ATT_Error:
                pass
            await soon(peer.connection.pair(), "pairing")
            await soon(stored, "the key at Bumble")
            await server.event(
                "security", central=CENTRAL, level=level(secure_connections, mitm), keySize=16, bonded=True)
            if shown := server.take("comparison"):
                expect(int(shown["passkey"]), person.seen[-1], "the number that both show")
            expect(await soon(secret.read_value(), "the secret"), VALUE, "the secret")
        await agree_on_keys(central, CENTRAL, f"state{number}", secure_connections, is_central=True)
        async with connected(central, address_of(ready)) as peer:
            await soon(peer.connection.encrypt(), "encryption")
            await server.event("security", central=CENTRAL, bonded=True)
            expect(await soon((await characteristic(peer, SECRET)).read_value(), "the secret"), VALUE, "the secret")


async def steps(radio):
    async with device(radio, CENTRAL, irk=bytes(range(16))) as central:
        for number, method in enumerate(methods()):
            await pairs(radio, central, number, *method)


scenario(steps)
