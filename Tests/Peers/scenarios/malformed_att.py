"""Malformed ATT PDUs to `bletool serve`: it sends Error Responses where ATT requires them, and keeps the link."""
from peers.device import CENTRAL, address_of, connected, device
from peers.raw import Frames
from peers.scenario import expect, scenario
from peers.thermometer import serving

# Requests of a wrong length are answered with Invalid PDU (0x04), unknown requests with
# Request Not Supported (0x06): Core 5.4, Vol 3, Part F, 3.3 and 3.4.1.1. Bit 6 of the opcode marks commands.
ANSWERED = {
    "02": 0x04, "0217": 0x04, "02170000": 0x04,
    "04": 0x04, "04010001": 0x04, "04010001000000": 0x04,
    "06": 0x04, "060100ffff00": 0x04,
    "08": 0x04, "080100ffff": 0x04, "080100ffff0328ff": 0x04,
    "0a": 0x04, "0a01": 0x04, "0a010000": 0x04,
    "0c": 0x04, "0c010000": 0x04, "0c0100000000": 0x04,
    "0e": 0x04, "0e0100": 0x04, "0e01000200ff": 0x04,
    "10": 0x04, "100100ffff": 0x04, "100100ffff002800": 0x04,
    "12": 0x04, "1201": 0x04,
    "16": 0x04, "16010000": 0x04,
    "18": 0x04, "180100": 0x04,
    "00": 0x06, "14": 0x06, "30": 0x06, "3f": 0x06, "a0ffff": 0x06,
}
# Responses without a request, commands that are unknown or truncated, and an empty frame.
UNANSWERED = ["090001", "110001", "0b", "01", "010a010001", "13", "1e", "1e00", "1b", "21",
              "52", "5201", "70", "7fff", "d2", "d20100", "f0", ""]
READ_NAME = "080100ffff002a"  # Read By Type of the device name: its response is the next one if the frame before had none


async def steps(radio):
    async with serving(radio) as (server, ready), device(radio, CENTRAL) as central:
        async with connected(central, address_of(ready)) as peer:
            att = Frames(peer.connection)
            name = await att.ask(READ_NAME)
            assert name.startswith("09"), name
            for request, code in ANSWERED.items():
                answer = await att.ask(request)
                found = (answer[:4], answer[8:])
                expect(found, (f"01{request[:2]}", f"{code:02x}"), f"the answer {answer} to {request}")
            for frame in UNANSWERED:
                att.send(frame)
                expect(await att.ask(READ_NAME), name, f"the answer to a read after {frame}")
            assert server.take("disconnected") is None and not peer.lost.done()


scenario(steps)
