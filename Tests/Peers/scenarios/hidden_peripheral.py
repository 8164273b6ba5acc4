"""A Bumble peripheral and bletool use private addresses. They pair, and each resolves the other's identity after both
addresses have changed."""
import asyncio

from bumble.gatt import Characteristic, Service
from bumble.hci import Address, HCI_LE_Set_Random_Address_Command

from peers.bletool import bletool, soon
from peers.device import PERIPHERAL, device
from peers.pairing import IO, pair_with
from peers.scenario import expect, scenario

SECRET, VALUE = "fff1", b"a secret"


async def hide_elsewhere(peripheral):
    """Advertises with another private address until a central connects. (Bumble 0.0.236 generates one by itself, but passes
    the old one to the controller.)"""
    address = Address.generate_private_address(peripheral.irk)
    await peripheral.send_sync_command(HCI_LE_Set_Random_Address_Command(random_address=address))
    peripheral.random_address = address
    await peripheral.start_advertising(advertising_interval_min=50, advertising_interval_max=50)


async def steps(radio):
    secret = Characteristic(
        SECRET, Characteristic.Properties.READ, Characteristic.READ_REQUIRES_ENCRYPTION, VALUE)
    settings = {"le_privacy_enabled": True, "le_rpa_timeout": 0, "irk": bytes(15) + b"\2"}
    async with device(
            radio, PERIPHERAL, name="Hidden", services=[Service("fff0", [secret])], **settings) as peripheral:
        for secure_connections in (False, True):
            print("secure connections" if secure_connections else "legacy", flush=True)
            here = ["--adapter", radio, "--state-dir", f"state{secure_connections}"]
            pair_with(peripheral, IO.NO_OUTPUT_NO_INPUT, secure_connections, False)
            await hide_elsewhere(peripheral)
            stored = asyncio.get_running_loop().create_future()
            peripheral.once("key_store_update", lambda stored=stored: stored.set_result(None))
            shown = str(peripheral.random_address).removesuffix("/P")
            *_, paired = await bletool("pair", f"{shown}/random", "--privacy", *here)
            expect(paired["bonded"], True, "whether they are bonded")
            await soon(stored, "the key at Bumble")
            [(name, keys)] = await peripheral.keystore.get_all()
            if keys.ltk is None:
                # After legacy pairing, Bumble's responder stores its own key as the central's.
                keys.ltk_peripheral = keys.ltk_central
                await peripheral.keystore.update(name, keys)
            [bond] = await bletool("bonds", "list", *here[2:])
            expect(bond["address"], PERIPHERAL, "the identity of the peer")

            for _ in range(2):
                await hide_elsewhere(peripheral)
                seen = asyncio.get_running_loop().create_future()
                peripheral.once("connection", seen.set_result)
                [found] = await bletool("scan", "--count", "1", "--address", PERIPHERAL, *here)
                expect(found["identity"], PERIPHERAL, "the identity of the advertiser")
                [read] = await bletool("gatt", PERIPHERAL, "read", SECRET, "--privacy", *here)
                expect(bytes.fromhex(read["value"]), VALUE, "the secret")
                connection = await soon(seen, "the connection")
                expect(str(connection.peer_address).removesuffix("/P"), bond["adapter"], "the identity of the central")
                assert connection.peer_resolvable_address.is_resolvable
            [(name, _)] = await peripheral.keystore.get_all()
            await peripheral.keystore.delete(name)


scenario(steps)
