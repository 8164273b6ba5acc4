"""`bletool maintain --exec` runs its program at each connection and disconnection of a Bumble peripheral."""
import asyncio
from pathlib import Path

from peers.bletool import running
from peers.device import PERIPHERAL
from peers.gadget import gadget
from peers.scenario import expect, scenario

REMOTE_USER_TERMINATED = 0x13
LINKS = 3
# The environment of the program. The reason is a text. The line contains only whether it is set.
LINE = "$BLETOOL_EVENT $BLETOOL_SESSION $BLETOOL_ADDRESS $BLETOOL_ADDRESS_TYPE ${BLETOOL_REASON:+because}"


async def drop(connection):
    """Ends a link half a second after it was established."""
    await asyncio.sleep(0.5)
    await connection.disconnect()


async def steps(radio):
    happened = Path("happened").absolute()
    command = f'echo "{LINE}" >> "{happened}"; echo "noted $BLETOOL_EVENT $BLETOOL_SESSION"'
    words = ["maintain", PERIPHERAL, "--exec", command, "--count", LINKS, "--adapter", radio]
    dropping = []
    async with gadget(radio) as it:
        it.device.on("connection", lambda connection: dropping.append(asyncio.create_task(drop(connection))))
        async with running(*words) as client:
            for session in range(1, LINKS + 1):
                event = await client.event("connected", session=session)
                expect((event["address"], event["addressType"]), (PERIPHERAL, "random"), "the device")
                await client.event("disconnected", session=session, reason=REMOTE_USER_TERMINATED)
            expect((await client.end())[0], 0, "the exit code")
        await asyncio.gather(*dropping)
        # The program has run for all events, in order, before bletool ended.
        expect(
            [line.strip() for line in happened.read_text().splitlines()],
            [f"{event} {session} {PERIPHERAL} random{reason}"
             for session in range(1, LINKS + 1)
             for event, reason in (("connected", ""), ("disconnected", " because"))],
            "the environments of the program")
        for session in range(1, LINKS + 1):
            assert f"noted disconnected {session}" in client.messages, "the output of the program is not shown"


scenario(steps)
