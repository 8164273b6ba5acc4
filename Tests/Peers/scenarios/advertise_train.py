"""Bumble follows a periodic train of `bletool advertise`."""
from peers.bletool import running, soon
from peers.device import CENTRAL, address_of, device
from peers.scenario import expect, scenario
from peers.waves import following, receives

OPTIONS = "--name Train --periodic 100ms --periodic-service-data 181a:0102 --sid 6"
DATA = "05161a180102"


async def steps(radio):
    async with running("advertise", "--adapter", radio, *OPTIONS.split()) as advertising:
        ready = await advertising.event("ready")
        expect(ready["advertising"]["periodic"], {"data": DATA, "interval": "100ms"}, "the train")
        async with device(radio, CENTRAL) as central:
            announced = await receives(central, lambda a: a.sid == 6, "the announcement")
            async with following(central, announced.address, announced.sid) as (sync, packets):
                expect(sync.periodic_advertising_interval, 100, "milliseconds")
                for _ in range(5):
                    packet = await soon(packets.get(), "a packet of the train")
                    expect(packet.data_bytes.hex(), DATA, "the data of the train")
                expect(announced.address, address_of(ready), "the address")


scenario(steps)
