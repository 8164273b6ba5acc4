"""Bumble receives three advertisements of one bletool at once: a connectable one, a beacon and one without address."""
from bumble.core import AdvertisingData

from peers.bletool import running
from peers.device import CENTRAL, address_of, device
from peers.scenario import expect, scenario
from peers.waves import receives

OPTIONS = """
    --name Lamp --service 180f
    --and --type nonconnectable --url https://example.org --extended --sid 7
    --and --anonymous --type nonconnectable --manufacturer 0xffff:0102 --sid 9
"""


async def steps(radio):
    async with running("advertise", "--adapter", radio, *OPTIONS.split()) as advertising:
        ready = await advertising.event("ready")
        async with device(radio, CENTRAL) as central:
            for _ in range(2):
                lamp = await receives(
                    central, lambda a: a.data.get(AdvertisingData.COMPLETE_LOCAL_NAME) == "Lamp", "the lamp")
                expect((lamp.address, lamp.is_legacy, lamp.is_connectable), (address_of(ready), True, True), "lamp")
                beacon = await receives(central, lambda a: a.sid == 7, "the beacon")
                # The scheme https: is one octet.
                expect(beacon.data_bytes, b"\x0f\x24\x17//example.org", "the beacon's data")
                expect((beacon.address, beacon.is_legacy), (address_of(ready), False), "the beacon")
                anonymous = await receives(central, lambda a: a.sid == 9, "the anonymous one")
                # RootCanal reports the address nevertheless, so it is not checked.
                expect(anonymous.data_bytes.hex(), "05ffffff0102", "the anonymous one")


scenario(steps)
