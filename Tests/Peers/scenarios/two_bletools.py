"""Two processes of bletool on one radio, a server and a client."""
from peers.bletool import bletool
from peers.scenario import expect, scenario
from peers.thermometer import BATTERY, INTERMEDIATE, LONG, LONG_VALUE, NAME, NOTE, serving, tree


async def steps(radio):
    async with serving(radio) as (_, ready):
        address = f"{ready['address']}/{ready['addressType']}"
        [received] = await bletool("scan", "--adapter", radio, "--count", 1, "--timeout", "5s")
        expect((received["address"], received["name"]), (ready["address"], NAME), "the scan")
        [found] = await bletool("gatt", address, "tree", "--adapter", radio)
        own = [{
            "uuid": s["uuid"], "handle": s["handle"], "endHandle": s["endHandle"],
            "includes": [included["uuid"] for included in s["includes"]],
            "characteristics": [{
                "uuid": c["uuid"], "valueHandle": c["valueHandle"], "properties": sorted(c["properties"]),
                "descriptors": sorted(d["uuid"] for d in c["descriptors"]),
            } for c in s["characteristics"]]} for s in found["services"][2:]]
        expect(own, tree(), "the tree")
        await bletool("gatt", address, "write", NOTE, "62796520", "--adapter", radio)
        for attribute, value in ((NOTE, b"bye "), (LONG, LONG_VALUE), (BATTERY, b"d")):
            [read] = await bletool("gatt", f"name:{NAME}", "read", attribute, "--adapter", radio)
            expect(read["value"], value.hex(), attribute)
        events = await bletool("gatt", address, "notify", INTERMEDIATE, "--count", 3, "--adapter", radio)
        counts = [int.from_bytes(bytes.fromhex(event["value"]), "little") for event in events]
        expect(counts, list(range(counts[0], counts[0] + 3)), "the counter")


scenario(steps)
