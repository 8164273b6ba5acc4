"""A controller that has advertised refuses to advertise again. `bletool serve` retries seven times within a minute, then
ends with an error, because no central can connect any more."""
import asyncio
from contextlib import asynccontextmanager

from bumble.transport.common import AsyncPacketReader

from peers.device import CENTRAL, address_of, connected, device
from peers.raw import h4
from peers.scenario import expect, scenario
from peers.thermometer import serving

UNUSABLE = 3
DISALLOWED = 0x0C
TURN_ON = {0x0A: 4, 0x39: 4}  # by the first octet of the opcode: the index of the octet that enables advertising


class Stubborn:
    """A proxy between a controller of the radio and its host. It refuses to enable advertising if `refuses` is set."""

    def __init__(self):
        self.refuses = False
        self.refused = 0

    def takes(self, packet):
        return not (self.refuses and packet[:1] == b"\1" and packet[1] in TURN_ON and packet[2] == 0x20
                    and packet[TURN_ON[packet[1]]] == 1)

    @asynccontextmanager
    async def between(self, radio):
        async def serve(reader, writer):
            async with h4(radio) as (answers, commands):
                await asyncio.gather(
                    self._commands(AsyncPacketReader(reader), commands, writer), self._answers(answers, writer))

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            yield "tcp:%s:%d" % server.sockets[0].getsockname()

    async def _commands(self, reader, commands, answers):
        while packet := await self._next(reader):
            if self.takes(packet):
                commands.write(packet)
            else:
                self.refused += 1
                answers.write(bytes([4, 0x0E, 4, 1]) + packet[1:3] + bytes([DISALLOWED]))
        commands.close()

    async def _answers(self, reader, writer):
        while packet := await self._next(reader):
            writer.write(packet)

    @staticmethod
    async def _next(reader):
        try:
            return await reader.next_packet()
        except (asyncio.IncompleteReadError, ConnectionError):
            return None


async def steps(radio):
    stubborn = Stubborn()
    async with stubborn.between(radio) as port, serving(port) as (server, ready):
        async with device(radio, CENTRAL) as central, connected(central, address_of(ready)):
            await server.event("connected")
            stubborn.refuses = True
        await server.event("disconnected")
        code, events = await server.end(seconds=120)
        expect(code, UNUSABLE, "the exit code")
        server.expect_error(events)
        assert stubborn.refused >= 7, f"refused {stubborn.refused} times"
        assert "Command Disallowed" in server.messages, server.messages


scenario(steps)
