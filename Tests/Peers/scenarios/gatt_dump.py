"""`bletool gatt … dump` writes the configuration of a Bumble peripheral, with which `bletool serve` runs the same server."""
from pathlib import Path

from peers.bletool import bletool, running
from peers.device import PERIPHERAL
from peers.gadget import gadget
from peers.scenario import expect, scenario


def attributes(tree):
    """Returns handles, types, properties and values of a tree, without the values of the GATT service, which differ."""
    rows = []
    for service in tree["services"]:
        rows.append((service["handle"], service["uuid"], service["primary"], len(service["includes"])))
        for c in service["characteristics"]:
            value = None if service["uuid"] == "1801" else c["value"]
            rows.append((c["valueHandle"], c["uuid"], sorted(c["properties"]), value))
            rows += [(d["handle"], d["uuid"], None, d["value"]) for d in c["descriptors"]]
    return rows


async def steps(radio):
    async with gadget(radio):
        [original] = await bletool("gatt", PERIPHERAL, "tree", "--values", "--adapter", radio)
        [dump] = await bletool("gatt", PERIPHERAL, "dump", "clone.yaml", "--adapter", radio)
        expect((dump["event"], dump["address"], dump["file"]), ("dump", PERIPHERAL, "clone.yaml"), "the dump")
        expect(dump["exact"], True, "whether nothing is missing")
    # Bumble's controllers report legacy packets as extended ones, which they do not support for sending.
    file = Path("clone.yaml")
    file.write_text(file.read_text().replace("extended: true", "extended: false"))
    async with running("serve", "clone.yaml", "--adapter", radio) as server:
        ready = await server.event("ready")
        [clone] = await bletool(
            "gatt", f"{ready['address']}/{ready['addressType']}", "tree", "--values", "--adapter", radio)
    refused = {row["handle"] for row in dump["unread"]}
    expect([row for row in attributes(clone) if row[0] not in refused],
           [row for row in attributes(original) if row[0] not in refused], "the clone")


scenario(steps)
