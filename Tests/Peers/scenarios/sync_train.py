"""`bletool sync` follows a train of Bumble, whose data change meanwhile, and a train of `bletool advertise`."""
from bumble.core import AdvertisingData
from bumble.device import AdvertisingEventProperties, AdvertisingParameters, PeriodicAdvertisingParameters

from peers.bletool import bletool, running
from peers.device import PERIPHERAL, device
from peers.scenario import expect, scenario


async def steps(radio):
    async with device(radio, PERIPHERAL) as peripheral:
        train = await peripheral.create_advertising_set(
            AdvertisingParameters(AdvertisingEventProperties(is_connectable=False), advertising_sid=4),
            advertising_data=bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, b"Bumble line")])),
            random_address=peripheral.random_address,
            periodic_advertising_parameters=PeriodicAdvertisingParameters(50, 50),
            periodic_advertising_data=bytes.fromhex("03ffffff"))
        await train.start_periodic()
        [received] = await bletool("scan", "--adapter", radio, "--name", "Bumble*", "--count", 1, "--timeout", "8s")
        expect((received["sid"], received["periodicInterval"]), (4, 50), "the announcement")
        await bletool("sync", PERIPHERAL, "--adapter", radio, "--sid", 5, "--timeout", "1s", code=2)
        async with running("sync", PERIPHERAL, "--adapter", radio, "--lost-after", "500ms") as follower:
            await follower.event("periodic", sid=4, data="03ffffff", truncated=False)
            await train.set_periodic_advertising_data(bytes.fromhex("04ffffff01"))
            await follower.event("periodic", sid=4, data="04ffffff01", truncated=False)
            await train.stop_periodic()
            code, _ = await follower.end()
            expect(code, 7, "the train's end")
    options = "--name Train --periodic 100ms --periodic-service-data 181a:0102"
    async with running("advertise", "--adapter", radio, *options.split()) as advertising:
        await advertising.event("ready")
        packets = await bletool("sync", "name:Train", "--adapter", radio, "--count", 3, "--timeout", "8s")
        expect([packet["data"] for packet in packets], ["05161a180102"] * 3, "bletool's own train")


scenario(steps)
