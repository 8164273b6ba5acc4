"""`bletool gatt … read` reads a Bumble peripheral's values: short ones, long ones, and ones that exactly fill a response."""
from peers.bletool import bletool
from peers.device import PERIPHERAL
from peers.gadget import FULL, LONG, LONG_VALUE, MTU, NAME, NOTE, SERVICE, TWICE, gadget
from peers.scenario import expect, scenario


async def steps(radio):
    async with gadget(radio) as peripheral:
        note = peripheral.note.handle
        for attribute, value in [
            (NOTE, b"hello"), (f"{SERVICE}/{NOTE}", b"hello"), (f"0x{note:04x}", b"hello"),
            (f"{SERVICE}/{NOTE}/2901", b"A note"), ("2a19", b"d"), ("battery_level", b"d"),
            ("2a00", NAME.encode()), (LONG, LONG_VALUE),
            (FULL, bytes(MTU - 1)), (TWICE, bytes(2 * (MTU - 1))),
        ]:
            [read] = await bletool("gatt", PERIPHERAL, "read", attribute, "--adapter", radio, "--mtu", MTU)
            expect((read["event"], read["value"]), ("value", value.hex()), attribute)
            if attribute == NOTE:
                expect((read["handle"], read["uuid"]), (note, NOTE), "what was read")
        [rest] = await bletool(
            "gatt", "name:Gad*", "read", LONG, "--offset", 500, "--adapter", radio, "--mtu", MTU)
        expect(rest["value"], LONG_VALUE[500:].hex(), "the value from the offset")


scenario(steps)
