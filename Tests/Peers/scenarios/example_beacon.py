"""Bumble receives both advertisements of the beacon of Examples."""
import asyncio
import signal

from bumble.core import AdvertisingData

from peers.bletool import soon
from peers.device import CENTRAL, device
from peers.example import example
from peers.scenario import expect, scenario

IBEACON = bytes.fromhex("4c000215 f7826da6 4fa2 4e98 8024 bc5b71e0893e 0001 0007 c5")
EDDYSTONE = bytes.fromhex("aafe 10 00 03") + b"swift" + bytes([1])


async def steps(radio):
    async with example("beacon", radio) as beacon, device(radio, CENTRAL) as central:
        await beacon.line("on air as ")
        received = {"iBeacon": asyncio.Event(), "Eddystone": asyncio.Event()}

        def listen(advertisement):
            data = advertisement.data
            if IBEACON in data.get_all(AdvertisingData.MANUFACTURER_SPECIFIC_DATA, raw=True):
                received["iBeacon"].set()
            for service in data.get_all(AdvertisingData.SERVICE_DATA_16_BIT_UUID, raw=True):
                # The power depends on the adapter.
                if service[:3] == EDDYSTONE[:3] and service[4:] == EDDYSTONE[4:]:
                    received["Eddystone"].set()

        central.on("advertisement", listen)
        await central.start_scanning(filter_duplicates=False)
        for name, event in received.items():
            await soon(event.wait(), name)
        await central.stop_scanning()
        expect(await beacon.stop(), -signal.SIGINT, "the end of the beacon")


scenario(steps)
