"""Of a value of more than 512 octets, a read shows the first 512, and reads all into a file. A tree shows all other values."""
from pathlib import Path

from bumble.gatt import Characteristic, Service

from peers.bletool import bletool, running
from peers.device import PERIPHERAL, device
from peers.scenario import expect, scenario

LONG, SHORT = "2a3d", "2a19"


async def steps(radio):
    readable = (Characteristic.Properties.READ, Characteristic.READABLE)
    service = Service("180f", [Characteristic(LONG, *readable, bytes(594)), Characteristic(SHORT, *readable, b"d")])
    async with device(radio, PERIPHERAL, "Long", [service]) as peripheral:
        await peripheral.start_advertising(
            auto_restart=True, advertising_interval_min=50, advertising_interval_max=50)
        async with running("gatt", PERIPHERAL, "read", LONG, "--adapter", radio) as client:
            code, [event] = await client.end()
            expect((code, event["value"]), (0, bytes(512).hex()), "the beginning of the value that is too long")
            assert "more than 512 octets" in client.messages, client.messages
        await bletool("gatt", PERIPHERAL, "read", LONG, "--to", "whole", "--adapter", radio)
        expect(Path("whole").read_bytes(), bytes(594), "the whole value")
        [tree] = await bletool("gatt", PERIPHERAL, "tree", "--values", "--adapter", radio)
        found = {c["uuid"]: c["value"] for service in tree["services"] for c in service["characteristics"]}
        expect(found[LONG], None, "the value that is too long")
        expect(found[SHORT], b"d".hex(), "the value after it")


scenario(steps)
