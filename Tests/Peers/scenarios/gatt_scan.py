"""`bletool scan` finds a Bumble peripheral: its address, name, services, manufacturer data and flags."""
from peers.bletool import bletool
from peers.device import PERIPHERAL
from peers.gadget import NAME, gadget
from peers.scenario import expect, scenario

FIELDS = {
    "address": PERIPHERAL, "addressType": "random", "kind": "static", "connectable": True, "name": NAME,
    "nameComplete": True, "services": ["180f"], "flags": 6}


async def steps(radio):
    async def scan(*options, code=0):
        return await bletool("scan", "--adapter", radio, *options, code=code)

    async with gadget(radio):
        for words in ("", "--name Gadget*", "--service battery_service", f"--address {PERIPHERAL}"):
            received = await scan(*words.split(), "--count", 1, "--timeout", "5s")
            expect([event["event"] for event in received], ["advertisement"], "the events of one device")
            expect({field: received[0][field] for field in FIELDS}, FIELDS, "the advertisement")
            made_by = received[0]["manufacturer"]
            expect([(m["company"], m["data"]) for m in made_by], [(0xFFFF, "0a0b")], "manufacturer data")
        expect(await scan("--name", "Gidget*", "--duration", "500ms"), [], "the events of other devices")
        await scan("--name", "Gidget*", "--count", 1, "--timeout", "500ms", code=2)


scenario(steps)
