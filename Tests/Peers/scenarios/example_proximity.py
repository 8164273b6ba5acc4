"""The proximity example reports the distance of a Bumble peripheral."""
import signal

from peers.example import example
from peers.gadget import NAME, gadget
from peers.scenario import expect, scenario


async def steps(radio):
    async with gadget(radio), example("proximity", radio, NAME) as proximity:
        await proximity.line(f"^{NAME} is (near|far away) ")
        expect(await proximity.stop(), -signal.SIGINT, "the end of the example")


scenario(steps)
