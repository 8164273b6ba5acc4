"""A Bumble peripheral with a database that contains difficult cases for a client."""
import asyncio
import sys
from contextlib import asynccontextmanager

from bumble.att import ATT_Error, AttributeValue, ErrorCode
from bumble.core import AdvertisingData
from bumble.gatt import Characteristic, Descriptor, Service

from peers.device import PERIPHERAL, device

NAME = "Gadget 7"
SERVICE, NOTE, LONG, FULL, TWICE, SECRET, COUNTER, ALARM = (
    f"5b1d000{n}-0c64-4d6e-9bb5-1f2a8d1e6a30" for n in range(8))
MTU = 64
LONG_VALUE = bytes(n % 253 for n in range(512))
Can = Characteristic.Properties
OPEN = Characteristic.READABLE | Characteristic.WRITEABLE


def refuse(*_):
    raise ATT_Error(ErrorCode.READ_NOT_PERMITTED)


class Gadget:
    """The database and its device. Subscribers receive a new count ten times a second."""

    def __init__(self):
        self.note = Characteristic(
            NOTE, Can.READ | Can.WRITE | Can.WRITE_WITHOUT_RESPONSE, OPEN, b"hello",
            [Descriptor("2901", Characteristic.READABLE, b"A note")])
        self.long = Characteristic(LONG, Can.READ | Can.WRITE, OPEN, LONG_VALUE)
        self.counter = Characteristic(COUNTER, Can.READ | Can.NOTIFY, OPEN, b"\0\0")
        self.alarm = Characteristic(ALARM, Can.NOTIFY | Can.INDICATE, OPEN, b"")
        # These fill one and two responses, so that a client must request the rest.
        full = Characteristic(FULL, Can.READ, OPEN, bytes(MTU - 1))
        twice = Characteristic(TWICE, Can.READ, OPEN, bytes(2 * (MTU - 1)))
        self.secret = Characteristic(SECRET, Can.READ, OPEN, AttributeValue(read=refuse))
        battery = Service("180f", [Characteristic("2a19", Can.READ, OPEN, b"\x64")])
        own = Service(
            SERVICE, [self.note, self.long, full, twice, self.secret, self.counter, self.alarm],
            included_services=[battery])
        self.services = [battery, own]

    async def advertise(self):
        """Starts advertising, with data that fit in one packet."""
        data = bytes(AdvertisingData([
            (AdvertisingData.FLAGS, bytes([6])),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes.fromhex("0f18")),
            (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, bytes.fromhex("ffff0a0b")),
            (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode()),
        ]))
        await self.device.start_advertising(
            advertising_data=data, auto_restart=True,
            advertising_interval_min=50, advertising_interval_max=50)

    async def count(self):
        number = 0
        while True:
            number += 1
            value = number.to_bytes(2, "little")
            await self.device.notify_subscribers(self.counter, value)
            await self.device.notify_subscribers(self.alarm, value)
            await self.device.indicate_subscribers(self.alarm, value)
            await asyncio.sleep(0.1)

    async def next_write(self, attribute):
        """Waits for the next write to this attribute, and returns its value."""
        written = asyncio.get_running_loop().create_future()
        attribute.once("write", lambda _, value: written.set_result(value))
        return await written


@asynccontextmanager
async def gadget(radio):
    """Creates a gadget that advertises and counts."""
    it = Gadget()
    async with device(radio, PERIPHERAL, NAME, it.services) as it.device:
        await it.advertise()
        counting = asyncio.create_task(it.count())
        try:
            yield it
        finally:
            counting.cancel()


async def main(radio):
    """Runs a gadget until it is killed."""
    async with gadget(radio):
        print("ready", flush=True)
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
