"""The radios. Each accepts any number of H4 connections over TCP; each connection is one controller."""
import asyncio
import contextlib
import os
import socket
from contextlib import asynccontextmanager

from bumble.controller import Controller
from bumble.hci import HCI_ErrorCode
from bumble.link import LocalLink
from bumble.ll import TerminateInd
from bumble.transport.common import StreamPacketSink, StreamPacketSource
from rootcanal.binaries import get_package_binary_resource_path

from peers.bletool import running, soon


class ControllerPort(StreamPacketSource):
    """One of Bumble's controllers, for as long as its host is connected."""

    def __init__(self, link):
        super().__init__()
        self.link = link

    def connection_made(self, transport):
        name = str(transport.get_extra_info("peername"))
        self.controller = Controller(name, self, StreamPacketSink(transport), self.link)

    def connection_lost(self, error):
        """Reports the loss of a host to its peers, because Bumble's controllers have no supervision timeout."""
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


def free_ports(count):
    """Returns free ports for RootCanal, which does not report the ports that the system chooses. They are below the ports
    that the system chooses, and differ from those of other scripts that run at the same time."""
    start = 10_000 + os.getpid() % 500 * 40
    free = []
    for port in range(start, start + 40):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            free.append(port)
        if len(free) == count:
            return free
    raise OSError(f"too many of the ports from {start} are in use")


@asynccontextmanager
async def rootcanal():
    """Runs RootCanal. It exits at a malformed command, and this is a failure of the scenario."""
    names = ("hci_port", "test_port", "link_port", "link_ble_port")
    ports = dict(zip(names, free_ports(len(names))))
    process = await asyncio.create_subprocess_exec(
        get_package_binary_resource_path("rootcanal"), *(f"-{name}={number}" for name, number in ports.items()),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)

    async def listening():
        async for line in process.stdout:
            if b"initialize: Finished" in line:
                return

    async def follow():
        async for line in process.stdout:
            print("*", line.decode(errors="replace").rstrip(), flush=True)

    await soon(listening(), "RootCanal")
    following = asyncio.create_task(follow())
    try:
        yield f"tcp:127.0.0.1:{ports['hci_port']}"
        assert process.returncode is None, f"RootCanal ended by itself: {process.returncode}"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await following


RADIOS = {"air": air, "bumble": bumble, "rootcanal": rootcanal}
