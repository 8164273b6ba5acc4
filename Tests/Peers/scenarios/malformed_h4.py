"""A client of the air that sends garbage ends neither the air nor the links of others."""
import random

from peers.device import CENTRAL, OTHER_CENTRAL, address_of, characteristic, connected, device, find
from peers.raw import h4
from peers.scenario import expect, scenario
from peers.thermometer import NAME, NOTE, serving

RESET = bytes.fromhex("01030c00")
GARBAGE = [
    b"\xff" * 16, b"\0" * 300, b"\x06\1\2\3", bytes.fromhex("01030c05"), bytes.fromhex("02ffffffff"),
    bytes.fromhex("0200000200ffff"), bytes.fromhex("04050400010013"), bytes.fromhex("03000000"),
    b"GET / HTTP/1.1\r\n\r\n", RESET + b"\x99", random.Random(7).randbytes(65536), b"",
]


async def steps(radio):
    async with serving(radio) as (server, ready), device(radio, CENTRAL) as central:
        async with connected(central, address_of(ready)) as peer:
            note = await characteristic(peer, NOTE)
            for garbage in GARBAGE:
                async with h4(radio) as (_, writer):
                    writer.write(garbage)
                    try:
                        await writer.drain()
                    except ConnectionError:
                        pass  # the air may close a connection that sends malformed data
                expect(await note.read_value(), b"hello", f"a read after {garbage[:16].hex()}")
            async with device(radio, OTHER_CENTRAL) as newcomer:
                await find(newcomer, NAME)
                async with connected(newcomer, address_of(ready)) as other:
                    newcomers_note = await characteristic(other, NOTE)
                    expect(await newcomers_note.read_value(), b"hello", "a newcomer's read")
            expect(await note.read_value(), b"hello", "the last read")
            assert server.take("disconnected", central=CENTRAL) is None


scenario(steps)
