"""A Bumble central signs writes to `bletool serve`, on a link without encryption, with the key that it distributed during
pairing. Forged and repeated writes are ignored."""
import asyncio
import json
from pathlib import Path

from bumble.att import ATT_CID
from bumble.keys import MemoryKeyStore

from peers.bletool import running, soon
from peers.device import CENTRAL, address_of, characteristic, connected, device
from peers.pairing import IO, pair_with
from peers.scenario import expect, scenario
from peers.signing import BUMBLES_KEY, signed_write

SIGNED = "fff1"
OTHER_KEY = bytes(range(16))


async def steps(radio):
    config = {"name": "Signed", "advertise": {"services": ["fff0"], "interval": "50ms"}, "services": [
        {"uuid": "fff0", "characteristics": [
            {"uuid": SIGNED, "properties": ["read", "signedWrite"], "value": {"utf8": "none"}}]}]}
    Path("signed.yaml").write_text(json.dumps(config))
    async with device(radio, CENTRAL, irk=bytes(range(16))) as central, running(
            "serve", "signed.yaml", "--adapter", radio, "--state-dir", "state") as server:
        ready = await server.event("ready")
        central.keystore = MemoryKeyStore()
        person = pair_with(central, IO.NO_OUTPUT_NO_INPUT, True, False)
        person.local_initiator_key_distribution |= person.KeyDistribution.DISTRIBUTE_SIGNING_KEY
        stored = asyncio.get_running_loop().create_future()
        central.once("key_store_update", lambda: stored.set_result(None))
        async with connected(central, address_of(ready)) as peer:
            # The server has no key yet to verify the signature.
            target = await characteristic(peer, SIGNED)
            peer.connection.send_l2cap_pdu(ATT_CID, signed_write(target.handle, b"soon", 1, BUMBLES_KEY))
            await soon(peer.connection.pair(), "pairing")
            await soon(stored, "the key at Bumble")
            await server.event("security", central=CENTRAL, bonded=True)
            expect(await soon(target.read_value(), "the value"), b"none", "the value after a signed write before pairing")
        async with connected(central, address_of(ready)) as peer:
            target = await characteristic(peer, SIGNED)
            for value, counter, key in [
                (b"once", 1, BUMBLES_KEY), (b"fake", 2, OTHER_KEY), (b"late", 1, BUMBLES_KEY),
                (b"last", 2, BUMBLES_KEY),
            ]:
                peer.connection.send_l2cap_pdu(ATT_CID, signed_write(target.handle, value, counter, key))
            for value in (b"once", b"last"):
                await server.event("write", central=CENTRAL, uuid=SIGNED, value=value.hex(), type="signed")
            expect(server.take("write"), None, "another write")
            expect(await soon(target.read_value(), "the value"), b"last", "the value")


scenario(steps)
