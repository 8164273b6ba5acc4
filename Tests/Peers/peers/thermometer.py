"""The database of `bletool serve` in the scenarios, and the tree that a client must discover."""
import json
from contextlib import asynccontextmanager
from pathlib import Path

from peers.bletool import running

NAME = "Thermo 3000"
TEMPERATURE, INTERMEDIATE, BATTERY = "2a1c", "2a1e", "2a19"
NOTE, LONG, SECRET, COMMAND, LIMITED = (f"9d2a000{n}-6f3b-4f0e-8a55-0d5a2f6b7c11" for n in range(1, 6))
LONG_VALUE = bytes(n % 251 for n in range(300))
UPDATES = {"every": "200ms", "counter": "u16"}

SERVICES = [
    {"uuid": "1809", "handle": 0x0030, "characteristics": [
        {"uuid": TEMPERATURE, "properties": ["indicate"], "value": {"hex": "0000"}, "notify": UPDATES},
        {"uuid": INTERMEDIATE, "properties": ["read", "notify"], "value": {"hex": "0000"}, "notify": UPDATES,
         "descriptors": [{"uuid": "2901", "value": {"utf8": "Counter"}}]}]},
    {"uuid": "9d2a0000-6f3b-4f0e-8a55-0d5a2f6b7c11", "includes": [{"uuid": "180f"}], "characteristics": [
        {"uuid": NOTE, "properties": ["read", "write"], "value": {"utf8": "hello"}},
        {"uuid": LONG, "properties": ["read", "write"], "value": {"hex": LONG_VALUE.hex()}},
        {"uuid": SECRET, "properties": ["write"], "value": {"hex": ""}},
        {"uuid": COMMAND, "properties": ["read", "writeWithoutResponse"], "value": {"hex": "00"}},
        {"uuid": LIMITED, "properties": ["read", "write"], "value": {"hex": "01"}, "length": {"max": 4}}]},
    {"uuid": "180f", "characteristics": [{"uuid": BATTERY, "properties": ["read"], "value": {"u8": 100}}]},
]


def tree():
    """Returns the services as a client discovers them, with handles and with 0x2902 descriptors."""
    found, handle = [], 0
    for service in SERVICES:
        start = handle = service.get("handle", handle + 1)
        handle += len(service.get("includes", []))
        characteristics = []
        for characteristic in service["characteristics"]:
            handle += 2
            descriptors = sorted([d["uuid"] for d in characteristic.get("descriptors", [])]
                                 + ["2902"] * ("notify" in characteristic))
            characteristics.append({
                "uuid": characteristic["uuid"], "valueHandle": handle,
                "properties": sorted(characteristic["properties"]), "descriptors": descriptors})
            handle += len(descriptors)
        found.append({"uuid": service["uuid"], "handle": start, "endHandle": handle,
                      "includes": [i["uuid"] for i in service.get("includes", [])],
                      "characteristics": characteristics})
    return found


def value_handle(uuid):
    return next(c["valueHandle"] for s in tree() for c in s["characteristics"] if c["uuid"] == uuid)


@asynccontextmanager
async def serving(radio, *options, name=NAME, **settings):
    """Runs `bletool serve` on this radio, and yields it with its `ready` event. JSON is valid YAML."""
    advertise = {
        "services": ["1809"], "manufacturer": {"0xFFFF": "0102"},
        "interval": "50ms", "overflow": "scan-response"}
    config = {"name": name, "advertise": advertise, "mtu": 247, "services": SERVICES} | settings
    Path("thermometer.yaml").write_text(json.dumps(config, indent=2))
    async with running("serve", "thermometer.yaml", "--adapter", radio, *options) as server:
        yield server, await server.event("ready")
