"""Bumble reads the recording of `bletool gatt … --capture`: packets, directions and times."""
from datetime import datetime, timedelta, timezone

from bumble.apps.show import SnoopPacketReader
from bumble.hci import HCI_COMMAND_PACKET, HCI_EVENT_PACKET, HCI_Packet

from peers.bletool import bletool
from peers.device import PERIPHERAL
from peers.gadget import NOTE, gadget
from peers.scenario import expect, scenario

SENT, RECEIVED = 0, 1
RESET = bytes.fromhex("01030c00")


async def steps(radio):
    async with gadget(radio) as peripheral:
        await bletool("gatt", PERIPHERAL, "read", NOTE, "--capture", "read.btsnoop", "--adapter", radio)
        handle = peripheral.note.handle.to_bytes(2, "little")
    packets = []
    with open("read.btsnoop", "rb") as file:
        reader = SnoopPacketReader(file)
        while not reader.at_end:
            packets.append(reader.next_packet())
    packets.pop()  # the end of the file
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    for time, direction, packet in packets:
        HCI_Packet.from_bytes(packet)
        assert now - timedelta(minutes=1) < time <= now, f"{time} is not within a minute before {now}"
        ways = {HCI_COMMAND_PACKET: SENT, HCI_EVENT_PACKET: RECEIVED}
        expect(direction, ways.get(packet[0], direction), f"the direction of {packet.hex()}")
    expect(packets[0][1:], (SENT, RESET), "the first packet")
    for direction, attribute_packet in ((SENT, b"\x0a" + handle), (RECEIVED, b"\x0bhello")):
        found = [way for _, way, packet in packets if packet[0] == 2 and packet.endswith(attribute_packet)]
        expect(found, [direction], f"the directions of {attribute_packet.hex()}")


scenario(steps)
