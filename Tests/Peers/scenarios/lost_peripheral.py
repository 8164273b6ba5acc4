"""`bletool gatt … notify` ends with 7 when its Bumble peripheral is killed, soon after the supervision timeout."""
import asyncio
import sys

from peers.bletool import running
from peers.device import PERIPHERAL
from peers.gadget import COUNTER
from peers.scenario import expect, scenario

LINK_LOST = 7


async def steps(radio):
    peripheral = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "peers.gadget", radio, stdout=asyncio.subprocess.PIPE)
    try:
        expect(await peripheral.stdout.readline(), b"ready\n", "the peripheral")
        words = ["gatt", PERIPHERAL, "notify", COUNTER, "--supervision", "1s", "--adapter", radio]
        async with running(*words) as client:
            for _ in range(3):
                await client.event("notification", uuid=COUNTER)
            peripheral.kill()
            code, events = await client.end(seconds=3)
            expect(code, LINK_LOST, "the exit code")
            client.expect_error(events)
    finally:
        if peripheral.returncode is None:
            peripheral.kill()
        await peripheral.wait()


scenario(steps)
