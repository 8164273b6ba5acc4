"""Bumble scans and receives name, services and manufacturer data of `bletool serve` in one packet."""
from bumble.core import UUID, AdvertisingData

from peers.device import CENTRAL, address_of, device, find
from peers.scenario import expect, scenario
from peers.thermometer import NAME, serving


async def steps(radio):
    async with serving(radio) as (_, ready), device(radio, CENTRAL) as central:
        advertisement = await find(central, NAME)
        expect(advertisement.address, address_of(ready), "address")
        assert advertisement.is_connectable
        for field, value in {
            AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS: [UUID("1809")],
            AdvertisingData.MANUFACTURER_SPECIFIC_DATA: (0xFFFF, bytes([1, 2])),
            AdvertisingData.FLAGS: 6,
        }.items():
            expect(advertisement.data.get(field), value, f"field 0x{field:02x}")
        expect(ready["advertising"]["overflow"], [], "overflow")


scenario(steps)
