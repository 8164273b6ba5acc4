"""Tables of commands and the status of the answer to each, for the controllers of bletool and of RootCanal. Where the
two differ, the table also has RootCanal's status, and the reason for the difference."""
import sys

from peers import commands
from peers.bletool import soon
from peers.raw import h4

SUCCESS, UNKNOWN_COMMAND, UNKNOWN_CONNECTION, MEMORY = 0x00, 0x01, 0x02, 0x07
EXISTS, DISALLOWED, UNSUPPORTED, INVALID, UNKNOWN_SET = 0x0B, 0x0C, 0x11, 0x12, 0x42

# Why a row is not tested with RootCanal.
RESERVED = "It accepts values outside the specified range, which must be 0x12 (Vol 1, Part F, 2.18)."
LACKING = "It does not support the command, and may exit."


class RootCanal:
    """The status that RootCanal answers instead, and why that of bletool's controllers is right."""

    def __init__(self, status, why):
        self.status, self.why = status, why


# The status of a value outside the specified range is 0x12 (Vol 1, Part F, 2.18). RootCanal treats it as a value that the
# controller does not support. For advertising intervals, the SIG's test suite accepts both (HCI/DDI/BI-01-C, BI-02-C).
RANGE = RootCanal(UNSUPPORTED, "outside the range")
PHYS = "A bit for a PHY that is not supported, or is reserved, is 0x11 (7.8.48, 7.8.49)."


async def status(reader, writer, command):
    """Sends a command and returns the status of its answer. Other events are skipped."""
    writer.write(command)
    opcode = command[1:3]

    def answers(packet):  # event, length, credits, opcode, status; or event, length, status, credits, opcode
        return packet[1] == 0x0E and packet[4:6] == opcode or packet[1] == 0x0F and packet[5:7] == opcode

    packet = await event(reader, answers, f"an answer to {command.hex()}")
    return packet[6] if packet[1] == 0x0E else packet[3]


async def event(reader, matches, what):
    """Returns the next packet that matches, and skips those before it."""
    while not matches(packet := await soon(reader.next_packet(), what)):
        pass
    return packet


async def differences(reader, writer, name, rows):
    """Sends the commands of the rows, and returns the rows with another status."""
    found = []
    for place, (command, wanted, *other) in enumerate(rows, 1):
        if other and sys.argv[1] == "rootcanal":
            if not isinstance(other[0], RootCanal):
                continue
            wanted = other[0].status
        answer = await status(reader, writer, command)
        if answer != wanted:
            found.append(f"{name}, row {place}: {answer:#04x} instead of {wanted:#04x}: {command.hex()}")
    return found


async def compare(radio, table):
    """Tests each list of rows after a reset, and fails at the end if any status differs."""
    found = []
    async with h4(radio) as host:
        for name, rows in table.items():
            await status(*host, commands.RESET)
            found += await differences(*host, name, rows)
    assert not found, "\n".join(found)
