"""A Bumble central bonds with the hiding peripheral of the tour of Examples, and receives its alarms without a new
subscription after the peripheral was killed."""
import asyncio
import signal

from bumble.core import UUID, AdvertisingData
from bumble.hci import Address
from bumble.keys import MemoryKeyStore

from peers.bletool import soon
from peers.device import CENTRAL, characteristic, connected, device, find
from peers.example import example
from peers.pairing import IO, pair_with
from peers.scenario import expect, scenario

VALUE = bytes.fromhex("f0ff") + b"21"


def identity(match):
    """Returns the identity address of the peripheral."""
    value, kind = match.group(1).split("/")
    return Address(value, Address.RANDOM_DEVICE_ADDRESS if kind == "random" else Address.PUBLIC_DEVICE_ADDRESS)


async def bond(central, shown, hiding):
    """Pairs, subscribes and enables the broadcast of the setting. The link ends with the peripheral, which is killed."""
    stored = asyncio.get_running_loop().create_future()
    central.once("key_store_update", lambda: stored.set_result(None))
    async with connected(central, shown) as peer:
        alarm, setting = await characteristic(peer, "fff6"), await characteristic(peer, "fff9")
        await soon(peer.connection.pair(), "pairing")
        await soon(stored, "the key at Bumble")
        await hiding.line("^a central is bonded$")
        alarms = asyncio.Queue()
        await alarm.subscribe(alarms.put_nowait)
        await hiding.line("^a central is subscribed$")
        expect(await soon(alarms.get(), "an alarm"), b"fire", "the alarm")
        switch = setting.get_descriptor(UUID("2903"))
        await switch.write_value(bytes([1, 0]), with_response=True)
        await hiding.line("^broadcasting: true$")
        expect(await hiding.stop(signal.SIGKILL), -signal.SIGKILL, "the end of the peripheral")
        await soon(peer.lost, "the end of the link")


async def steps(radio):
    async with device(radio, CENTRAL) as central:
        central.keystore = MemoryKeyStore()
        pair_with(central, IO.NO_OUTPUT_NO_INPUT, True, False)
        async with example("tour", radio, "hiding", "state") as hiding:
            await hiding.line("^on air for .*, broadcasting: false$")
            first = (await find(central, "Hiding")).address
            assert first.is_resolvable, f"{first} is not a private address"
            await bond(central, first, hiding)
        async with example("tour", radio, "hiding", "state") as hiding:
            address = identity(await hiding.line("^on air for (.*), broadcasting: true$"))
            found = await find(central, "Hiding")
            assert found.address.is_resolvable and found.address != first, f"{found.address} after {first}"
            data = found.data.get(AdvertisingData.SERVICE_DATA_16_BIT_UUID, raw=True)
            expect(data, VALUE, "the broadcast")
            async with connected(central, address) as peer:
                alarm, alarms = await characteristic(peer, "fff6"), asyncio.Queue()
                client = peer.gatt_client
                client.notification_subscribers.setdefault(alarm.handle, set()).add(alarms.put_nowait)
                await soon(peer.connection.encrypt(), "encryption")
                await hiding.line("^a central is subscribed$")
                expect(await soon(alarms.get(), "an alarm"), b"fire", "the alarm")


scenario(steps)
