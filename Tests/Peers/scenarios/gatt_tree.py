"""`bletool gatt … tree` prints a Bumble peripheral's database, and the values that can be read."""
from bumble.gatt import Characteristic, CharacteristicDeclaration, IncludedServiceDeclaration, Service

from peers.bletool import bletool
from peers.device import PERIPHERAL
from peers.gadget import ALARM, FULL, LONG, LONG_VALUE, MTU, NOTE, SECRET, TWICE, gadget
from peers.scenario import expect, scenario
from peers.words import names, text


def tree_of(attributes):
    """Returns the tree of Bumble's attributes in the form of CLI.md, without the values."""
    services = []
    for attribute in attributes:
        if isinstance(attribute, Service):
            services.append({"uuid": text(attribute.uuid), "handle": attribute.handle,
                             "endHandle": attribute.end_group_handle, "primary": attribute.primary,
                             "includes": 0, "characteristics": []})
        elif isinstance(attribute, IncludedServiceDeclaration):
            services[-1]["includes"] += 1
        elif isinstance(attribute, CharacteristicDeclaration):
            services[-1]["characteristics"].append({
                "uuid": text(attribute.characteristic.uuid), "handle": attribute.handle,
                "valueHandle": attribute.value_handle, "descriptors": [],
                "properties": names(attribute.characteristic.properties)})
        elif not isinstance(attribute, Characteristic):
            descriptor = {"uuid": text(attribute.type), "handle": attribute.handle}
            services[-1]["characteristics"][-1]["descriptors"].append(descriptor)
    return services


def shape(services):
    """Returns the tree that bletool printed, without the values."""
    return [service | {
        "includes": len(service["includes"]),
        "characteristics": [{
            "uuid": c["uuid"], "handle": c["handle"], "valueHandle": c["valueHandle"],
            "properties": sorted(c["properties"]),
            "descriptors": [{"uuid": d["uuid"], "handle": d["handle"]} for d in c["descriptors"]],
        } for c in service["characteristics"]]} for service in services]


async def steps(radio):
    async with gadget(radio) as peripheral:
        wanted = tree_of(peripheral.device.gatt_server.attributes)
        for target in (PERIPHERAL, f"{PERIPHERAL}/random", "name:Gad*"):
            [tree] = await bletool("gatt", target, "tree", "--adapter", radio, "--mtu", MTU)
            expect((tree["event"], tree["address"], tree["mtu"]), ("tree", PERIPHERAL, MTU), target)
            expect(shape(tree["services"]), wanted, target)
        [tree] = await bletool("gatt", PERIPHERAL, "tree", "--values", "--adapter", radio, "--mtu", MTU)
        found = {c["uuid"]: c for service in tree["services"] for c in service["characteristics"]}
        for uuid, value in {
            NOTE: b"hello", LONG: LONG_VALUE, FULL: bytes(MTU - 1), TWICE: bytes(2 * (MTU - 1)),
            "2a19": b"d", "2a00": b"Gadget 7",
        }.items():
            expect(found[uuid]["value"], value.hex(), f"the value of {uuid}")
        for uuid in (SECRET, ALARM):
            expect(found[uuid]["value"], None, f"the value of {uuid}, which cannot be read")
        [description] = [d for d in found[NOTE]["descriptors"] if d["uuid"] == "2901"]
        expect(description["value"], b"A note".hex(), "the value of a descriptor")


scenario(steps)
