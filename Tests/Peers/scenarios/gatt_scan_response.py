"""`bletool scan` merges the scan response of a Bumble peripheral with its other data. A passive scan receives no scan
response."""
from bumble.core import AdvertisingData

from peers.bletool import bletool, running
from peers.device import PERIPHERAL, device
from peers.scenario import expect, scenario

NAME = "A name in the scan response"
FIRST = bytes(AdvertisingData([(AdvertisingData.FLAGS, bytes([6])),
                               (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b"\x0f\x18")]))
SECOND = bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode())]))


async def steps(radio):
    async with device(radio, PERIPHERAL) as peripheral:
        await peripheral.start_advertising(advertising_data=FIRST, scan_response_data=SECOND)
        async with running("scan", "--adapter", radio, "--repeats", "all", "--timeout", "10s") as scan:
            merged = await scan.event("advertisement", name=NAME, services=["180f"])
            expect(merged["address"], PERIPHERAL, "address")
            await scan.event("advertisement", scanResponse=True, data=SECOND.hex())
        passive = await bletool("scan", "--adapter", radio, "--passive", "--count", 1, "--timeout", "5s")
        expect((passive[0]["name"], passive[0]["data"]), (None, FIRST.hex()), "a passive scan")


scenario(steps)
