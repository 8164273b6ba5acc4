"""Bytes below Bumble's own protocols, written as hex: L2CAP frames of a connection, and H4 over a socket."""
import asyncio
from contextlib import asynccontextmanager

from bumble.att import ATT_CID
from bumble.hci import HCI_AclDataPacket
from bumble.transport.common import AsyncPacketReader

from peers.bletool import soon

FIRST, CONTINUING = 0, 1  # the content of an ACL packet from the host: the start of a frame, or its continuation


class Frames:
    """The L2CAP frames of a connection, all or those of one channel. Bumble's own protocols do not receive them."""

    def __init__(self, connection, only=None):
        self.connection = connection
        self._received = asyncio.Queue()
        self._sent = "the connection"
        self._manager = connection.device.l2cap_channel_manager

        def receive(of, channel, payload):
            if only in (None, channel):
                self._received.put_nowait((channel, payload.hex()))
            else:
                type(self._manager).on_pdu(self._manager, of, channel, payload)

        self._manager.on_pdu = receive

    def release(self):
        """Passes further frames to Bumble's own protocols."""
        del self._manager.on_pdu

    def send(self, payload, channel=ATT_CID):
        self._sent = payload
        self.connection.send_l2cap_pdu(channel, bytes.fromhex(payload))

    def send_fragment(self, data, boundary=FIRST):
        """Sends one ACL packet with these octets, which need not be valid."""
        self._sent, octets = data, bytes.fromhex(data)
        packet = HCI_AclDataPacket(self.connection.handle, boundary, 0, len(octets), octets)
        self.connection.device.host.send_hci_packet(packet)

    async def answer(self, channel=ATT_CID):
        """Returns the next frame, which must be of this channel."""
        came_on, payload = await soon(self._received.get(), f"an answer to {self._sent}")
        assert came_on == channel, f"{payload} on channel {came_on}"
        return payload

    async def skip_to(self, channel=ATT_CID):
        """Returns the next frame of this channel, and skips frames of other channels."""
        while (frame := await soon(self._received.get(), f"an answer to {self._sent}"))[0] != channel:
            pass
        return frame[1]

    async def ask(self, payload, channel=ATT_CID):
        self.send(payload, channel)
        return await self.answer(channel)


@asynccontextmanager
async def h4(radio):
    """Connects to a radio, and yields a reader of whole packets and a writer of any bytes."""
    reader, writer = await asyncio.open_connection(*radio.removeprefix("tcp:").rsplit(":", 1))
    try:
        yield AsyncPacketReader(reader), writer
    finally:
        writer.close()
