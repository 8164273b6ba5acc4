"""The options of `bletool air` for its medium and its controllers: --legacy, --seed, --loss, --delay, and refused values."""
import time
from contextlib import asynccontextmanager

from peers.bletool import bletool, running, soon
from peers.commands import RESET, command
from peers.raw import h4
from peers.scenario import expect, scenario

READ_FEATURES, CLAIM_A_NEW_ADDRESS = command(0x2003), command(0xFC01)
EXTENDED_ADVERTISING = 1 << 12


@asynccontextmanager
async def air(*options):
    async with running("air", "--listen", "tcp:127.0.0.1:0", *options) as run:
        ready = await run.event("ready")
        yield ready["listening"][0]


async def returned(radio, command):
    """Returns the return parameters of a command to a new controller, after the status."""
    async with h4(radio) as (reader, writer):
        for sent in (RESET, command):
            writer.write(sent)
            answer = await soon(reader.next_packet(), "an answer")
        expect((answer[1], answer[6]), (0x0E, 0), "the event and the status")
        return answer[7:]


async def steps(_):
    async with air() as radio:
        features = int.from_bytes(await returned(radio, READ_FEATURES), "little")
        expect(features & EXTENDED_ADVERTISING, EXTENDED_ADVERTISING, "the features")
        another = await returned(radio, CLAIM_A_NEW_ADDRESS)
    async with air("--legacy") as radio:
        features = int.from_bytes(await returned(radio, READ_FEATURES), "little")
        expect(features & EXTENDED_ADVERTISING, 0, "the features of Bluetooth 4.2")

    addresses = []
    for _ in range(2):
        async with air("--seed", "7") as radio:
            addresses.append(await returned(radio, CLAIM_A_NEW_ADDRESS))
    expect(addresses[0], addresses[1], "the address of a seed")
    assert addresses[0] != another, "the addresses with and without a seed are equal"

    async with air("--loss", "1") as radio, running("advertise", "--name", "x", "--adapter", radio) as advertiser:
        await advertiser.event("ready")
        expect(await bletool("scan", "--duration", "1s", "--adapter", radio), [], "the events when all packets are lost")
    async with air("--delay", "150ms") as radio, running("advertise", "--name", "x", "--adapter", radio) as advertiser:
        await advertiser.event("ready")
        start = time.monotonic()
        await bletool("gatt", "name:x", "tree", "--adapter", radio)
        # Two reports, a connection request and its answer, and four requests with their responses.
        assert time.monotonic() - start >= 12 * 0.150, f"{time.monotonic() - start} s"

    for option, value in (("--loss", "1.5"), ("--loss", "-1"), ("--loss", "nan"), ("--delay", "-1s")):
        await bletool("air", option, value, code=1)


scenario(steps)
