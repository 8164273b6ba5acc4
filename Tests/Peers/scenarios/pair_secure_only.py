"""With LE Secure Connections only, bletool in both roles refuses a Bumble host without them, and accepts one with them."""
from bumble.core import ProtocolError
from bumble.keys import MemoryKeyStore

from peers.bletool import bletool, soon
from peers.device import CENTRAL, PERIPHERAL, address_of, connected, device
from peers.pairing import DIGITS, IO, pair_with
from peers.scenario import expect, scenario
from peers.thermometer import serving

AUTHENTICATION = 3  # Authentication Requirements (Core 5.4, Vol 3, Part H, 3.5.5)


async def serves(central, server, ready):
    pair_with(central, IO.NO_OUTPUT_NO_INPUT, False, False)
    async with connected(central, address_of(ready)) as peer:
        try:
            await soon(peer.connection.pair(), "pairing")
            assert False, "legacy pairing was accepted"
        except ProtocolError as error:
            expect(error.error_code, AUTHENTICATION, "the reason")
    pair_with(central, IO.NO_OUTPUT_NO_INPUT, True, False)
    async with connected(central, address_of(ready)) as peer:
        await soon(peer.connection.pair(), "pairing")
        await server.event("security", central=CENTRAL, level="medium", bonded=True)


async def steps(radio):
    async with device(radio, CENTRAL) as central:
        for options, settings in (["--secure-connections-only"], {}), ([], {"security": {"secureConnectionsOnly": True}}):
            central.keystore = MemoryKeyStore()
            async with serving(radio, *options, "--state-dir", f"state{len(options)}", **settings) as (server, ready):
                await serves(central, server, ready)
    async with device(radio, PERIPHERAL) as peripheral:
        peripheral.keystore = MemoryKeyStore()
        await peripheral.start_advertising(
            auto_restart=True, advertising_interval_min=50, advertising_interval_max=50)
        here = ["pair", PERIPHERAL, "--adapter", radio, "--state-dir", "state"]
        fips = ["--security", "fips", "--io", "keyboard", "--passkey", DIGITS]
        for options in ["--secure-connections-only"], fips:
            pair_with(peripheral, IO.DISPLAY_OUTPUT_ONLY, False, True)
            [error] = await bletool(*here, *options, code=6)
            assert error["message"].endswith("refused here: Authentication Requirements"), error
        pair_with(peripheral, IO.DISPLAY_OUTPUT_ONLY, True, True)
        [paired] = await bletool(*here, *fips)
        expect(paired["level"], "fips", "the level")


scenario(steps)
