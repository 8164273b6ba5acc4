"""A value of more than 512 octets is an error of the server: a read ends with 7, and a tree shows all other values."""
from bumble.gatt import Characteristic, Service

from peers.bletool import bletool
from peers.device import PERIPHERAL, device
from peers.scenario import expect, scenario

LONG, SHORT = "2a3d", "2a19"


async def steps(radio):
    readable = (Characteristic.Properties.READ, Characteristic.READABLE)
    service = Service("180f", [Characteristic(LONG, *readable, bytes(594)), Characteristic(SHORT, *readable, b"d")])
    async with device(radio, PERIPHERAL, "Long", [service]) as peripheral:
        await peripheral.start_advertising(
            auto_restart=True, advertising_interval_min=50, advertising_interval_max=50)
        events = await bletool("gatt", PERIPHERAL, "read", LONG, "--adapter", radio, code=7)
        assert "octets where at most 512 fit" in events[-1]["message"], events
        [tree] = await bletool("gatt", PERIPHERAL, "tree", "--values", "--adapter", radio)
        found = {c["uuid"]: c["value"] for service in tree["services"] for c in service["characteristics"]}
        expect(found[LONG], None, "the value that is too long")
        expect(found[SHORT], b"d".hex(), "the value after it")


scenario(steps)
