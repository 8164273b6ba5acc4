"""`bletool gatt … write` writes to a Bumble peripheral: by request, by command, and long values in parts."""
import asyncio
from pathlib import Path

from peers.bletool import bletool, soon
from peers.device import PERIPHERAL
from peers.gadget import LONG, MTU, NOTE, gadget
from peers.scenario import expect, scenario


async def steps(radio):
    async with gadget(radio) as peripheral:
        async def gatt_write(*words, code=0):
            return await bletool(
                "gatt", PERIPHERAL, "write", *words, "--adapter", radio, "--mtu", MTU, code=code)

        async def write(attribute, uuid, value, *options):
            arrival = asyncio.create_task(peripheral.next_write(attribute))
            [shown] = await gatt_write(uuid, *options)
            written = {
                "event": "written", "handle": attribute.handle, "octets": len(value),
                "acknowledged": "--without-response" not in options}
            expect(shown, written, "the reported write")
            expect(await soon(arrival, "the write's arrival"), value, "the value that arrived")

        await write(peripheral.note, NOTE, b"\x01\x02\x03", "010203")
        await write(peripheral.note, NOTE, b"text", "text", "--format", "utf8")
        await write(peripheral.note, NOTE, b"\x2a\x00", "42", "--format", "u16")
        await write(peripheral.note, NOTE, b"\xff", "ff", "--without-response")
        await write(peripheral.long, LONG, bytes(MTU - 3), bytes(MTU - 3).hex())
        for length in (MTU - 2, 300, 512):
            value = bytes([length % 256]) * length
            await write(peripheral.long, LONG, value, value.hex())
        Path("value").write_bytes(bytes(range(200)))
        await write(peripheral.long, LONG, bytes(range(200)), "--from", "value")
        too_long = bytes(MTU - 2).hex()
        await gatt_write(NOTE, too_long, "--without-response", code=1)


scenario(steps)
