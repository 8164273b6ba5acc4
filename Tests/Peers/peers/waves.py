"""Reception of extended and periodic advertising by a Bumble host."""
import asyncio
from contextlib import asynccontextmanager

from bumble.hci import HCI_LE_1M_PHY

from peers.bletool import soon


async def receives(host, wanted, what, phys=(HCI_LE_1M_PHY,)):
    """Scans with the extended commands until an advertisement meets the condition, and returns it."""
    found = asyncio.get_running_loop().create_future()

    def received(advertisement):
        if wanted(advertisement) and not found.done():
            found.set_result(advertisement)

    host.on("advertisement", received)
    await host.start_scanning(active=False, filter_duplicates=False, scanning_phys=phys)
    try:
        return await soon(found, what)
    finally:
        await host.stop_scanning()
        host.remove_listener("advertisement", received)


@asynccontextmanager
async def following(host, address, sid):
    """Follows a train, and yields a queue of its packets. Scans meanwhile, because RootCanal requires it."""
    packets = asyncio.Queue()
    await host.start_scanning(active=False, scanning_phys=(HCI_LE_1M_PHY,))
    sync = await host.create_periodic_advertising_sync(address, sid, sync_timeout=1.0)
    sync.on("periodic_advertisement", packets.put_nowait)
    # The event may have arrived with the answer to the command.
    if sync.state != sync.State.ESTABLISHED:
        established = asyncio.get_running_loop().create_future()
        sync.once("establishment", lambda: established.set_result(None))
        await soon(established, "the train")
    try:
        yield sync, packets
    finally:
        await sync.terminate()
        await host.stop_scanning()
