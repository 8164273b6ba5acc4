"""A Bumble central pairs with `bletool serve` by out-of-band data of one or both devices, in files."""
import asyncio
from pathlib import Path

from bumble.keys import MemoryKeyStore

from peers.bletool import soon
from peers.device import CENTRAL, address_of, connected, device
from peers.out_of_band import OURS, THEIRS, exchanges
from peers.pairing import IO, agree_on_keys, level, pair_with
from peers.scenario import expect, scenario
from peers.thermometer import serving


async def steps(radio):
    async with device(radio, CENTRAL, irk=bytes(range(16))) as central:
        for number, exchange in enumerate(exchanges()):
            here = ["--state-dir", f"state{number}"]
            central.keystore = MemoryKeyStore()
            if THEIRS in exchange.options:
                # A server can receive the data of its peers while it runs.
                record = Path(THEIRS).read_text()
                Path(THEIRS).unlink()
            async with serving(radio, *here, *exchange.options) as (server, ready):
                if THEIRS in exchange.options:
                    Path(THEIRS).write_text(record)
                pair_with(central, IO.NO_OUTPUT_NO_INPUT, exchange.is_secure, True, exchange.config)
                stored = asyncio.get_running_loop().create_future()
                central.once("key_store_update", lambda stored=stored: stored.set_result(None))
                async with connected(central, address_of(ready)) as peer:
                    await soon(peer.connection.pair(), "pairing")
                    await soon(stored, "the key at Bumble")
                    await server.event(
                        "security", central=CENTRAL, level=level(exchange.is_secure, True), bonded=True)
                if OURS in exchange.options:
                    address = address_of(ready)
                    expect(exchange.address, bytes(address) + bytes([address.is_random]), "the address in the record")
            await agree_on_keys(central, CENTRAL, f"state{number}", exchange.is_secure, is_central=True)


scenario(steps)
