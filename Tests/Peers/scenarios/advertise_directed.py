"""Directed advertising: the addressed Bumble central connects at low duty cycle. Advertising at high duty cycle ends by
itself."""
from peers.bletool import running
from peers.device import CENTRAL, address_of, connected, device
from peers.scenario import expect, scenario


async def steps(radio):
    async with device(radio, CENTRAL) as central:
        async with running("advertise", "--directed", f"{CENTRAL}/random", "--adapter", radio) as advertising:
            ready = await advertising.event("ready")
            async with connected(central, address_of(ready)) as peer:
                expect(peer.connection.peer_address, address_of(ready), "the address of the peer")
    # No central connects within 1.28 s.
    often = ("--directed", "F0:00:00:00:00:09/random", "--high-duty")
    async with running("advertise", *often, "--adapter", radio) as advertising:
        await advertising.event("ready")
        ended = await advertising.event("ended")
        expect(ended["reason"], "time", "the reason of the end")


scenario(steps)
