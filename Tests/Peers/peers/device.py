"""Bumble's host as a central and as a peripheral."""
import asyncio
from contextlib import asynccontextmanager

from bumble.core import AdvertisingData
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.hci import Address, HCI_LE_Set_Random_Address_Command
from bumble.transport.tcp_client import open_tcp_client_transport

from peers.bletool import PATIENCE, soon
from peers.words import text

CENTRAL = "F0:00:00:00:00:01"
OTHER_CENTRAL = "F0:00:00:00:00:02"
PERIPHERAL = "F0:00:00:00:00:03"
OTHER_PERIPHERAL = "F0:00:00:00:00:04"


@asynccontextmanager
async def device(radio, address, name="Bumble", services=(), **settings):
    """Creates a Bumble host with a static random address on this radio, and powers it on. `settings` are Bumble's."""
    async with await open_tcp_client_transport(radio.removeprefix("tcp:")) as transport:
        host = Device.from_config_with_hci(
            DeviceConfiguration(name=name, address=Address(address), **settings), *transport)
        host.add_services(services)
        await host.power_on()
        yield host


async def rename(host, address):
    """Changes the static random address of the host, so that no peer knows the host."""
    host.random_address = Address(address)
    await host.send_command(HCI_LE_Set_Random_Address_Command(random_address=host.random_address))


def address_of(ready):
    """Returns the address in a `ready` event of bletool."""
    kinds = {"public": Address.PUBLIC_DEVICE_ADDRESS, "random": Address.RANDOM_DEVICE_ADDRESS}
    return Address(ready["address"], kinds[ready["addressType"]])


async def find(host, name):
    """Scans actively until a device with this complete name is received, and returns its data with the scan response."""
    found = asyncio.get_running_loop().create_future()

    def received(advertisement):
        if advertisement.data.get(AdvertisingData.COMPLETE_LOCAL_NAME) == name and not found.done():
            found.set_result(advertisement)

    host.on("advertisement", received)
    await host.start_scanning(filter_duplicates=False)
    try:
        return await soon(found, f"an advertisement of {name}")
    finally:
        await host.stop_scanning()
        host.remove_listener("advertisement", received)


@asynccontextmanager
async def connected(host, address, **options):
    """Connects as central and yields Bumble's Peer. Disconnects at the end of the block if the link still exists."""
    connection = await host.connect(address, timeout=PATIENCE, **options)
    lost = asyncio.get_running_loop().create_future()
    connection.once("disconnection", lost.set_result)
    peer = Peer(connection)
    peer.lost = lost
    try:
        yield peer
    finally:
        if not lost.done():
            await connection.disconnect()


async def characteristic(peer, uuid):
    """Returns the characteristic with its descriptors. Discovers everything at the first call."""
    if not peer.services:
        await peer.discover_all()
    found = [c for service in peer.services for c in service.characteristics if text(c.uuid) == uuid]
    assert len(found) == 1, f"{len(found)} characteristics {uuid}"
    return found[0]
