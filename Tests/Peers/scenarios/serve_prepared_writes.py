"""Bumble writes long values to `bletool serve` in prepared parts; a cancelled transaction changes nothing."""
from bumble.att import ATT_Error, ErrorCode

from peers.device import CENTRAL, address_of, characteristic, connected, device
from peers.raw import Frames
from peers.scenario import expect, scenario
from peers.thermometer import LIMITED, LONG, NOTE, serving, value_handle


async def steps(radio):
    async with serving(radio) as (server, ready), device(radio, CENTRAL) as central:
        async with connected(central, address_of(ready)) as peer:
            for length in (21, 257, 512):
                target, value = await characteristic(peer, LONG), bytes([length % 256]) * length
                await target.write_value(value, with_response=True)
                expect(await target.read_value(), value, f"{length} octets")
                written = await server.event("write", handle=value_handle(LONG), type="prepared")
                expect(written["value"], value.hex(), "the parts, in one event")
            limited = await characteristic(peer, LIMITED)
            try:
                await limited.write_value(bytes(30), with_response=True)
                raise AssertionError("30 octets were written to a value of 4")
            except ATT_Error as error:
                expect(error.error_code, ErrorCode.INVALID_ATTRIBUTE_LENGTH, "the error of 30 octets to a value of 4")
            expect(await limited.read_value(), b"\1", "the value of 4 octets")
            await in_parts(Frames(peer.connection))


async def in_parts(att):
    """Tests transactions that Bumble's own client does not perform."""
    note = value_handle(NOTE).to_bytes(2, "little").hex()
    first, second = f"{note} 0000 6162".replace(" ", ""), f"{note} 0200 6364".replace(" ", "")
    read = f"0a{note}"
    expect(await att.ask(f"16{first}"), f"17{first}", "the echo")
    expect(await att.ask("1800"), "19", "cancelling")
    expect(await att.ask("1801"), "19", "executing an empty queue")
    expect(await att.ask(read), "0b" + b"hello".hex(), "the value after cancelling")
    expect(await att.ask(f"16{first}"), f"17{first}", "the echo of the first part")
    expect(await att.ask(f"16{second}"), f"17{second}", "the echo of the second part")
    expect(await att.ask(read), "0b" + b"hello".hex(), "the value before executing")
    expect(await att.ask("1801"), "19", "executing")
    expect((await att.ask(read))[:10], "0b61626364", "the value after executing")
    expect(await att.ask(f"16{note}ff0061"), f"17{note}ff0061", "the echo of an offset out of range")
    expect(await att.ask("1801"), f"0118{note}07", "executing it: Invalid Offset")


scenario(steps)
