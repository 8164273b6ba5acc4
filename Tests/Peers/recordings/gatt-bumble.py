"""`bletool gatt` with Bumble's server, recorded at its adapter: tree, long write and read, refusal, notifications,
indications."""
from pathlib import Path

from peers.bletool import bletool
from peers.device import PERIPHERAL
from peers.gadget import ALARM, COUNTER, LONG, MTU, gadget
from peers.scenario import expect, scenario

LONG_VALUE = bytes(range(100)).hex()
HEADER = 16  # octets before the first record of a btsnoop file


async def steps(radio):
    recording = b""

    async def gatt(*words):
        """Runs `bletool gatt` once, and appends its recording."""
        nonlocal recording
        events = await bletool(
            "gatt", PERIPHERAL, *words, "--mtu", MTU, "--adapter", radio, "--capture", "run.btsnoop")
        run = Path("run.btsnoop").read_bytes()
        recording += run[HEADER:] if recording else run
        return events

    async with gadget(radio) as peripheral:
        await gatt("tree", "--values")
        await gatt("write", LONG, LONG_VALUE)
        [read] = await gatt("read", LONG)
        expect(read["value"], LONG_VALUE, "what was written")
        await gatt("notify", COUNTER, "--count", 3)
        await gatt("notify", ALARM, "--indicate", "--count", 3)
    Path("gatt-bumble.btsnoop").write_bytes(recording)


scenario(steps)
