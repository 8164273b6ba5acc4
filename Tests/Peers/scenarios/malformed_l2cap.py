"""Malformed L2CAP frames to `bletool serve`: it drops malformed frames, rejects unknown commands, and keeps the link."""
from peers.device import CENTRAL, address_of, connected, device
from peers.raw import CONTINUING, FIRST, Frames
from peers.scenario import expect, scenario
from peers.thermometer import serving

SIGNALING, SECURITY = 5, 6
READ = "07000400080100ffff002a"  # reading the device name by type, as a whole L2CAP frame

BROKEN = {
    "a frame shorter than its header": [(FIRST, "0300")],
    "an empty packet": [(FIRST, "")],
    "a continuation without a start": [(CONTINUING, "0102030405")],
    "more octets than the frame has": [(FIRST, "030004000a010099")],
    "more octets in the second packet": [(FIRST, "030004000a"), (CONTINUING, "01009999")],
    "a frame that another one interrupts": [(FIRST, "030004000a")],
    "a frame with length 0xffff": [(FIRST, "ffff0400" + "55" * 20)],
    "a channel that is not in use": [(FIRST, "010077000a")],
    "channel 0": [(FIRST, "010000000a")],
}


async def steps(radio):
    async with serving(radio) as (server, ready), device(radio, CENTRAL) as central:
        async with connected(central, address_of(ready)) as peer:
            frames = Frames(peer.connection)
            name = await frames.ask(READ[8:])
            for what, packets in BROKEN.items():
                for boundary, octets in packets:
                    frames.send_fragment(octets, boundary)
                frames.send_fragment(READ)
                expect(await frames.answer(), name, f"the answer to a read after {what}")
            # Vol 3, Part A, 4.1: Command Reject, not understood. 4.20: a central must not request a parameter update.
            expect(await frames.ask("99010000", SIGNALING), "010102000000", "the answer to code 0x99")
            update = "120208000600060000006400"
            expect(await frames.ask(update, SIGNALING), "010202000000", "the answer to a parameter update")
            # Part H, 3.5.5: Pairing Failed, Invalid Parameters.
            expect(await frames.ask("010300011000", SECURITY), "050a", "the answer to a truncated Pairing Request")
            expect(await frames.ask(READ[8:]), name, "the answer to a read at the end")
            assert server.take("disconnected") is None and not peer.lost.done()


scenario(steps)
