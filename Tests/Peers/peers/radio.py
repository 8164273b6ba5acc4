"""The two radios. Each accepts any number of H4 connections over TCP; each connection is one controller."""
import asyncio
from contextlib import asynccontextmanager

from bumble.controller import Controller
from bumble.hci import HCI_ErrorCode
from bumble.link import LocalLink
from bumble.ll import TerminateInd
from bumble.transport.common import StreamPacketSink, StreamPacketSource

from peers.bletool import running


class ControllerPort(StreamPacketSource):
    """One of Bumble's controllers, for as long as its host is connected."""

    def __init__(self, link):
        super().__init__()
        self.link = link

    def connection_made(self, transport):
        name = str(transport.get_extra_info("peername"))
        self.controller = Controller(name, self, StreamPacketSink(transport), self.link)

    def connection_lost(self, error):
        """Bumble's controllers keep no supervision time, so the loss of a host is told to its peers here."""
        self.controller.le_legacy_advertiser.stop()
        for advertising_set in self.controller.advertising_sets.values():
            advertising_set.stop()
        for connection in self.controller.le_connections.values():
            connection.send_ll_control_pdu(TerminateInd(HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR))
        self.link.remove_controller(self.controller)


@asynccontextmanager
async def bumble():
    link = LocalLink()
    loop = asyncio.get_running_loop()
    async with await loop.create_server(lambda: ControllerPort(link), "127.0.0.1", 0) as server:
        yield "tcp:%s:%d" % server.sockets[0].getsockname()


@asynccontextmanager
async def air():
    async with running("air", "--listen", "tcp:127.0.0.1:0") as run:
        ready = await run.event("ready")
        yield ready["listening"][0]


RADIOS = {"air": air, "bumble": bumble}
