"""The air refuses invalid HCI commands with the status that Core 5.4, Vol 4, Part E requires."""
from peers.bletool import soon
from peers.raw import h4
from peers.scenario import expect, scenario

UNKNOWN_COMMAND, UNKNOWN_CONNECTION, DISALLOWED, INVALID = 0x01, 0x02, 0x0C, 0x12
COMPLETE, STATUS = "040e", "040f"

# A command without its packet type, the event that must answer it, and its status. They are sent in this order.
COMMANDS = [
    ("030c00", COMPLETE, 0),                                        # Reset
    ("fffe00", None, UNKNOWN_COMMAND),                              # an opcode that is not assigned
    ("0620020000", COMPLETE, INVALID),                              # LE Set Advertising Parameters, truncated
    ("06200f1f001f000000000000000000000700", COMPLETE, INVALID),    # an interval of 19.375 ms
    ("06200f000100010900000000000000000700", COMPLETE, INVALID),    # advertising type 9
    ("06200f000100010000000000000000000000", COMPLETE, INVALID),    # no channel
    ("08202020" + "00" * 31, COMPLETE, INVALID),                    # advertising data of 32 octets
    ("0b200701040005000000", COMPLETE, INVALID),                    # a scan window longer than the interval
    ("0c20020300", COMPLETE, INVALID),                              # LE Set Scan Enable 3
    ("060403230113", STATUS, UNKNOWN_CONNECTION),                   # Disconnect without a connection
    ("0e2000", COMPLETE, DISALLOWED),                               # cancel without a connection attempt
    ("0520060100000000f0", COMPLETE, 0),                            # LE Set Random Address
    ("06200f000100010001000000000000000700", COMPLETE, 0),
    ("0a200101", COMPLETE, 0),                                      # advertise
    ("06200f000100010001000000000000000700", COMPLETE, DISALLOWED), # new parameters meanwhile
]


async def steps(radio):
    async with h4(radio) as (reader, writer):
        for command, event, status in COMMANDS:
            writer.write(bytes.fromhex("01" + command))
            answer = (await soon(reader.next_packet(), f"an answer to {command}")).hex()
            assert answer[:4] in ((event,) if event else (COMPLETE, STATUS)), f"{answer} for {command}"
            if answer.startswith(COMPLETE):  # length, credits, opcode, status
                found = (answer[8:12], answer[12:14])
            else:  # length, status, credits, opcode
                found = (answer[10:14], answer[6:8])
            expect(found, (command[:4], f"{status:02x}"), f"the answer {answer} to {command}")


scenario(steps)
