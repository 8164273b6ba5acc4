"""`bletool pair` with a Bumble peripheral by out-of-band data of one or both devices, in files. Other files are refused."""
import asyncio
from pathlib import Path

from bumble.keys import MemoryKeyStore

from peers.bletool import bletool, soon
from peers.device import PERIPHERAL, device
from peers.out_of_band import THEIRS, Exchange, exchanges
from peers.pairing import IO, agree_on_keys, level, pair_with
from peers.scenario import expect, scenario


async def steps(radio):
    async with device(radio, PERIPHERAL, irk=bytes(range(16))) as peripheral:
        await peripheral.start_advertising(
            auto_restart=True, advertising_interval_min=50, advertising_interval_max=50)
        for number, exchange in enumerate(exchanges()):
            peripheral.keystore = MemoryKeyStore()
            pair_with(peripheral, IO.NO_OUTPUT_NO_INPUT, exchange.is_secure, True, exchange.config)
            stored = asyncio.get_running_loop().create_future()
            peripheral.once("key_store_update", lambda stored=stored: stored.set_result(None))
            [paired] = await bletool(
                "pair", PERIPHERAL, "--adapter", radio, "--state-dir", f"state{number}", *exchange.options)
            expect(paired["level"], level(exchange.is_secure, True), "the level")
            await soon(stored, "the key at Bumble")
            await agree_on_keys(peripheral, PERIPHERAL, f"state{number}", exchange.is_secure, is_central=False)

        # Data of another device, and malformed data.
        exchange = Exchange(True, False, True)
        pair_with(peripheral, IO.NO_OUTPUT_NO_INPUT, True, True, exchange.config)
        Path(THEIRS).write_text(Exchange(True, False, True).record().hex())
        here = ["--adapter", radio, "--state-dir", "elsewhere", *exchange.options]
        [error] = await bletool("pair", PERIPHERAL, *here, code=6)
        assert "Confirm Value Failed" in error["message"], error
        Path(THEIRS).write_text("0201")
        await bletool("pair", PERIPHERAL, *here, code=1)


scenario(steps)
