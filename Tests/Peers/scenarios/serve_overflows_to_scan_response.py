"""A name that does not fit is in the scan response. `ready` reports this, and Bumble's active scan receives the name."""
from bumble.core import UUID, AdvertisingData

from peers.device import CENTRAL, device, find
from peers.scenario import expect, scenario
from peers.thermometer import serving

NAME = "Thermometer of the north wing"


async def steps(radio):
    async with serving(radio, name=NAME) as (_, ready), device(radio, CENTRAL) as central:
        moved = [{"field": "name", "action": "scan-response", "octets": 2 + len(NAME)}]
        expect(ready["advertising"]["overflow"], moved, "overflow")
        advertisement = await find(central, NAME)
        services = advertisement.data.get(AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS)
        expect(services, [UUID("1809")], "services, merged from the first packet")


scenario(steps)
