"""An attribute server in raw octets: each of its answers can be wrong."""
import struct
from contextlib import asynccontextmanager

from bumble.att import ATT_CID, Opcode

from peers.device import PERIPHERAL, device


def u16(number):
    return struct.pack("<H", number)


def refusal(request, handle, code):
    return bytes([Opcode.ATT_ERROR_RESPONSE, request]) + u16(handle) + bytes([code])


class OddServer:
    """Attributes by their handles. `answers` returns the frames that answer a request in place of the right one; None: no
    change. The MTU is 23."""

    def __init__(self, answers=lambda request: None, started=lambda server: None):
        self.attributes, self.ends = {}, {}
        self.answers, self.started = answers, started
        self.requests = []
        self.connection = None

    def service(self, handle, uuid, end):
        self.attributes[handle] = (0x2800, u16(uuid))
        self.ends[handle] = end

    def characteristic(self, handle, uuid, properties, value=b"", at=None):
        at = handle + 1 if at is None else at
        self.attributes[handle] = (0x2803, bytes([properties]) + u16(at) + u16(uuid))
        self.attributes[at] = (uuid, value)

    def battery(self):
        """The Battery Service with the level 87 % and its configuration, at 0x0020 to 0x0023."""
        self.service(0x20, 0x180f, 0x23)
        self.characteristic(0x21, 0x2a19, 0x12, b"\x57")
        self.attributes[0x23] = (0x2902, bytes(2))
        return self

    def send(self, frame):
        self.connection.send_l2cap_pdu(ATT_CID, frame)

    def received(self, connection, channel, request):
        if channel != ATT_CID:
            return
        self.connection = connection
        self.requests.append(request.hex())
        frames = self.answers(request)
        for frame in [self.answer(request)] if frames is None else frames:
            if frame:
                self.send(frame)

    def answer(self, request):
        """Returns the answer of a server as it should be; none to commands and confirmations."""
        opcode, rest = request[0], request[1:]
        if opcode == Opcode.ATT_EXCHANGE_MTU_REQUEST:
            return bytes([opcode + 1]) + u16(23)
        if opcode in (Opcode.ATT_READ_BY_GROUP_TYPE_REQUEST, Opcode.ATT_READ_BY_TYPE_REQUEST):
            first, last, kind = struct.unpack("<HHH", rest[:6])
            is_group = opcode == Opcode.ATT_READ_BY_GROUP_TYPE_REQUEST
            found = [
                u16(handle) + (u16(self.ends[handle]) if is_group else b"") + value
                for handle, (uuid, value) in sorted(self.attributes.items()) if first <= handle <= last and uuid == kind]
            return self.list(bytes([opcode + 1]), found) or refusal(opcode, first, 0x0a)
        if opcode == Opcode.ATT_FIND_INFORMATION_REQUEST:
            first, last = struct.unpack("<HH", rest)
            found = [u16(handle) + u16(uuid) for handle, (uuid, _) in sorted(self.attributes.items()) if first <= handle <= last]
            return b"\x05\x01" + b"".join(found[:5]) if found else refusal(opcode, first, 0x0a)
        handle = int.from_bytes(rest[:2], "little")
        if opcode == Opcode.ATT_READ_REQUEST:
            return b"\x0b" + self.attributes[handle][1][:22] if handle in self.attributes else refusal(opcode, handle, 0x01)
        if opcode == Opcode.ATT_READ_BLOB_REQUEST:
            offset = int.from_bytes(rest[2:4], "little")
            return b"\x0d" + self.attributes[handle][1][offset:offset + 22]
        if opcode == Opcode.ATT_WRITE_REQUEST:
            return b"\x13"
        return None if opcode & 0x40 or not opcode % 2 == 0 or opcode == 0x1e else refusal(opcode, handle, 0x06)

    @staticmethod
    def list(start, entries):
        fitting = [entry for entry in entries if len(entry) == len(entries[0])]
        fitting = fitting[:20 // len(fitting[0])] if fitting else []
        return start + bytes([len(fitting[0])]) + b"".join(fitting) if fitting else None


@asynccontextmanager
async def odd(radio, server):
    """Advertises with this server in place of Bumble's."""
    async with device(radio, PERIPHERAL, "Odd") as peripheral:
        peripheral.l2cap_channel_manager.on_pdu = server.received
        peripheral.on("connection", lambda connection: server.started(server))
        await peripheral.start_advertising(
            advertising_data=bytes.fromhex("020106" "04094f6464"), auto_restart=True, advertising_interval_min=50, advertising_interval_max=50)
        yield server
