"""`bletool serve` refuses requests as ATT requires, with the required code and handle."""
from peers.device import CENTRAL, address_of, connected, device
from peers.raw import Frames
from peers.scenario import expect, scenario
from peers.thermometer import BATTERY, LIMITED, NOTE, SECRET, serving, value_handle


def handle(number):
    return number.to_bytes(2, "little").hex()


NOTE_HANDLE, SECRET_HANDLE, BATTERY_HANDLE, LIMITED_HANDLE = (
    handle(value_handle(uuid)) for uuid in (NOTE, SECRET, BATTERY, LIMITED))
SECRET_TYPE = bytes.fromhex(SECRET.replace("-", ""))[::-1].hex()
NOWHERE = "ff7f"

# Requests and their Error Responses: Core 5.4, Vol 3, Part F, 3.4.1.1 and the section of the request.
REFUSED = {
    "read a value that can only be written": (f"0a{SECRET_HANDLE}", f"010a{SECRET_HANDLE}02"),
    "read a part of a value that can only be written": (f"0c{SECRET_HANDLE}0000", f"010c{SECRET_HANDLE}02"),
    "read by type a value that can only be written": (f"080100ffff{SECRET_TYPE}", f"0108{SECRET_HANDLE}02"),
    "write a value that can only be read": (f"12{BATTERY_HANDLE}01", f"0112{BATTERY_HANDLE}03"),
    "prepare a write of a value that can only be read": (f"16{BATTERY_HANDLE}000001", f"0116{BATTERY_HANDLE}03"),
    "write more than the maximum length": (f"12{LIMITED_HANDLE}0102030405", f"0112{LIMITED_HANDLE}0d"),
    "read an absent handle": (f"0a{NOWHERE}", f"010a{NOWHERE}01"),
    "read from handle 0": ("0a0000", "010a000001"),
    "write to an absent handle": (f"12{NOWHERE}01", f"0112{NOWHERE}01"),
    "prepare a write to an absent handle": (f"16{NOWHERE}000001", f"0116{NOWHERE}01"),
    "read past the end": (f"0c{NOTE_HANDLE}0600", f"010c{NOTE_HANDLE}07"),
    "find from handle 0": ("040000ffff", "0104000001"),
    "find in a reversed range": ("0405000400", "0104050001"),
    "find in a range without attributes": ("0400f0ffff", "010400f00a"),
    "read by type from handle 0": ("080000ffff0328", "0108000001"),
    "read by type in a reversed range": ("08050004000328", "0108050001"),
    "read by a type that no attribute has": ("080100ffffad0b", "010801000a"),
    "read by a type that is not a group": ("100100ffff0328", "0110010010"),
    "read groups from handle 0": ("100000ffff0028", "0110000001"),
    "read groups in a range without attributes": ("1000f0ffff0028", "011000f00a"),
    "find an absent service": ("060100ffff0028ad0b", "010601000a"),
    "write a service declaration": ("12300000", "0112300003"),
}


async def steps(radio):
    async with serving(radio) as (_, ready), device(radio, CENTRAL) as central:
        async with connected(central, address_of(ready)) as peer:
            att = Frames(peer.connection)
            for what, (request, error) in REFUSED.items():
                expect(await att.ask(request), error, what)
            for command in (f"52{BATTERY_HANDLE}01", f"52{NOWHERE}01"):
                att.send(command)  # refused without an answer, as all commands
            expect(await att.ask(f"0a{BATTERY_HANDLE}"), "0b64", "the value after refused commands")
            expect(await att.ask(f"0c{NOTE_HANDLE}0500"), "0d", "read at the end of the value")


scenario(steps)
