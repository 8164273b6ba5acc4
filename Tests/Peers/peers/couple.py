"""Two of Bumble's hosts on one radio: a peripheral with a value that requires encryption, and a central that can pair."""
import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

from bumble.gatt import Characteristic, Service
from bumble.hci import OwnAddressType
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

from peers.bletool import soon
from peers.device import CENTRAL, PERIPHERAL, characteristic, connected, device

SERVICE, SECRET = "fff0", "fff1"
VALUE = b"a secret"
IO = PairingDelegate.IoCapability


class Person(PairingDelegate):
    """A user of a device, who enters the number that the other device shows."""

    def __init__(self, io, shown):
        super().__init__(io)
        self.shown = shown

    async def display_number(self, number, digits):
        self.shown.put_nowait(number)

    async def get_number(self):
        return await self.shown.get()

    async def compare_numbers(self, number, digits):
        self.shown.put_nowait(number)
        return True


class Couple:
    def __init__(self, central, peripheral):
        self.central, self.peripheral = central, peripheral
        self.shown = asyncio.Queue()

    def set_pairing(self, secure_connections, mitm, central_io=IO.NO_OUTPUT_NO_INPUT, peripheral_io=IO.NO_OUTPUT_NO_INPUT):
        """Sets the pairing parameters of both hosts."""
        self.shown = asyncio.Queue()
        for host, io in ((self.central, central_io), (self.peripheral, peripheral_io)):
            config = PairingConfig(
                secure_connections, mitm, True, Person(io, self.shown), PairingConfig.AddressType.RANDOM)
            host.pairing_config_factory = lambda _, config=config: config

    async def pair(self, peer, other):
        """Pairs, waits until both hosts have stored their keys, and returns these, the central's first."""
        stored = [asyncio.get_running_loop().create_future() for _ in range(2)]
        for host, future in zip((self.central, self.peripheral), stored):
            host.once("key_store_update", lambda future=future: future.set_result(None))
        await soon(peer.connection.pair(), "pairing")
        await soon(asyncio.gather(*stored), "stored keys")
        assert peer.connection.is_encrypted and other.is_encrypted
        [[(_, ours)], [(name, theirs)]] = [await host.keystore.get_all() for host in (self.central, self.peripheral)]
        if theirs.ltk is None:
            # After legacy pairing, Bumble's responder stores its own key as the central's, but later reads the peripheral's.
            theirs.ltk_peripheral = theirs.ltk_central
            await self.peripheral.keystore.update(name, theirs)
        return ours.ltk or ours.ltk_central, theirs.ltk or theirs.ltk_peripheral

    def forget(self):
        """Removes the keys of both hosts."""
        for host in (self.central, self.peripheral):
            host.keystore = MemoryKeyStore()

    @asynccontextmanager
    async def meet(self, own_address_type=OwnAddressType.RANDOM):
        """Connects, and yields the connection of the central and that of the peripheral."""
        other = asyncio.get_running_loop().create_future()
        self.peripheral.once("connection", other.set_result)
        await self.advertise(own_address_type)
        async with connected(
                self.central, self.peripheral.static_address, own_address_type=own_address_type) as peer:
            yield peer, await soon(other, "the connection at the peripheral")

    async def advertise(self, own_address_type=OwnAddressType.RANDOM):
        """Makes the peripheral advertise until a central connects."""
        await self.peripheral.start_advertising(
            own_address_type=own_address_type, advertising_interval_min=50, advertising_interval_max=50)

    async def read(self, peer):
        """Reads the value that requires encryption."""
        return await soon((await characteristic(peer, SECRET)).read_value(), "the secret")


@asynccontextmanager
async def couple(radio, **settings):
    """Creates both hosts, with settings of Bumble."""
    secret = Characteristic(
        SECRET, Characteristic.Properties.READ, Characteristic.READ_REQUIRES_ENCRYPTION, VALUE)
    async with AsyncExitStack() as stack:
        central = await stack.enter_async_context(device(radio, CENTRAL, irk=bytes(15) + b"\1", **settings))
        peripheral = await stack.enter_async_context(
            device(radio, PERIPHERAL, services=[Service(SERVICE, [secret])], irk=bytes(15) + b"\2", **settings))
        it = Couple(central, peripheral)
        it.forget()
        yield it
