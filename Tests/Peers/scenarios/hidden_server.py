"""A Bumble central pairs with `bletool serve --privacy`, and connects to its identity after its address has changed."""
import asyncio
import json
from pathlib import Path

from bumble.hci import Address
from bumble.keys import MemoryKeyStore

from peers.bletool import running, soon
from peers.device import CENTRAL, address_of, characteristic, connected, device, find
from peers.pairing import IO, pair_with
from peers.scenario import expect, scenario

SECRET, VALUE = "fff1", b"a secret"
CONFIG = {"name": "Hidden", "advertise": {"interval": "50ms"}, "services": [
    {"uuid": "fff0", "characteristics": [{
        "uuid": SECRET, "properties": ["read"], "permissions": {"read": "encrypted"},
        "value": {"utf8": VALUE.decode()}}]}]}


async def changed(central, shown):
    """Waits until the server advertises with another address."""
    while str((await find(central, "Hidden")).address) == shown:
        pass


async def steps(radio):
    Path("secrets.yaml").write_text(json.dumps(CONFIG))
    async with device(radio, CENTRAL) as central:
        for secure_connections in (False, True):
            print("secure connections" if secure_connections else "legacy", flush=True)
            central.keystore = MemoryKeyStore()
            pair_with(central, IO.NO_OUTPUT_NO_INPUT, secure_connections, False)
            async with running(
                    "serve", "secrets.yaml", "--adapter", radio, "--state-dir", f"state{secure_connections}",
                    "--privacy", "--address-lifetime", "3s") as server:
                identity = address_of(await server.event("ready"))
                stored = asyncio.get_running_loop().create_future()
                central.once("key_store_update", lambda stored=stored: stored.set_result(None))
                shown = (await find(central, "Hidden")).address
                assert shown.is_resolvable, f"{shown} is not a private address"
                async with connected(central, shown) as peer:
                    await soon(peer.connection.pair(), "pairing")
                    await soon(stored, "the key at Bumble")
                    await server.event("security", central=CENTRAL, bonded=True)
                await changed(central, str(shown))
                async with connected(central, identity) as peer:
                    assert str(peer.connection.peer_resolvable_address) != str(shown)
                    await soon(peer.connection.encrypt(), "encryption")
                    secret = await characteristic(peer, SECRET)
                    expect(await soon(secret.read_value(), "the secret"), VALUE, "the secret")


scenario(steps)
