"""Operations that a Bumble peripheral refuses, or whose target is absent, end with the exit code and message of CLI.md."""
from peers.bletool import running
from peers.device import PERIPHERAL
from peers.gadget import NOTE, SECRET, gadget
from peers.scenario import expect, scenario

NOT_FOUND, ATT = 2, 5

FAILURES = [
    (["gatt", PERIPHERAL, "read", SECRET], ATT, 0x02),
    (["gatt", PERIPHERAL, "read", "0x7fff"], ATT, 0x01),
    (["gatt", PERIPHERAL, "read", NOTE, "--offset", 6], ATT, 0x07),
    (["gatt", PERIPHERAL, "write", "0x7fff", "00"], ATT, 0x01),
    (["gatt", PERIPHERAL, "write", NOTE, "00" * 513], None, None),
    (["gatt", PERIPHERAL, "read", "2a6e"], NOT_FOUND, None),
    (["gatt", PERIPHERAL, "notify", NOTE], None, None),
    (["gatt", "name:Absent", "tree", "--timeout", "500ms"], NOT_FOUND, None),
]


async def steps(radio):
    async with gadget(radio):
        for words, code, att_code in FAILURES:
            async with running(*words, "--adapter", radio) as run:
                ended, events = await run.end()
                assert ended == code if code else ended != 0, f"exit code {ended} of {words}"
                run.expect_error(events)
                if att_code:
                    expect(events[-1]["number"], att_code, "the ATT error code")


scenario(steps)
