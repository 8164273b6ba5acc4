"""Pairing of bletool with a Bumble host: the methods, and the user of both devices."""
from bumble.pairing import PairingConfig, PairingDelegate

from peers.bletool import bletool
from peers.scenario import expect

IO = PairingDelegate.IoCapability
PASSKEY = 12345
DIGITS = "012345"
# By name: whether the method protects against a man in the middle, bletool's options, Bumble's IO capability, whether the
# method exists only in LE Secure Connections.
METHODS = {
    "just works": (False, [], IO.NO_OUTPUT_NO_INPUT, False),
    "bletool's number": (True, ["--io", "display", "--passkey", DIGITS], IO.KEYBOARD_INPUT_ONLY, False),
    "Bumble's number": (True, ["--io", "keyboard", "--passkey", DIGITS], IO.DISPLAY_OUTPUT_ONLY, False),
    "comparison": (
        # Only Bumble's user compares the numbers, which proves nothing to bletool.
        False, ["--io", "displayYesNo", "--accept-comparison"], IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT, True),
}


class Person(PairingDelegate):
    """A user who enters the fixed passkey of bletool, and stores what Bumble shows."""

    def __init__(self, io):
        super().__init__(io)
        self.seen = []

    async def accept(self):
        self.seen.append("accept")
        return True

    async def generate_passkey(self):
        return PASSKEY

    async def display_number(self, number, digits):
        self.seen.append(number)

    async def get_number(self):
        return PASSKEY

    async def compare_numbers(self, number, digits):
        self.seen.append(number)
        return True


def pair_with(host, io, secure_connections, mitm, out_of_band=lambda: None):
    """Sets the pairing parameters of a Bumble host, and returns its user. Out-of-band data are read when pairing begins."""
    person = Person(io)
    host.pairing_config_factory = lambda _: PairingConfig(
        secure_connections, mitm, True, person, PairingConfig.AddressType.RANDOM, out_of_band())
    return person


def methods():
    """Yields the parameters of every method in legacy pairing and in LE Secure Connections, and prints its name."""
    for secure_connections in (False, True):
        for name, (mitm, options, io, is_secure_only) in METHODS.items():
            if secure_connections or not is_secure_only:
                print(name, "secure connections" if secure_connections else "legacy", flush=True)
                yield secure_connections, mitm, options, io


def level(secure_connections, mitm):
    """Returns bletool's name of the security level of a link that was paired this way."""
    if not mitm:
        return "medium"
    return "fips" if secure_connections else "high"


async def agree_on_keys(host, device, state_dir, secure_connections, is_central):
    """Checks that a Bumble host and the bletool that has paired with it as `device` have the same keys. Returns those of
    Bumble."""
    [bond] = await bletool("bonds", "show", device, "--keys", "--state-dir", state_dir)
    [(_, keys)] = await host.keystore.get_all()
    if secure_connections:
        given = taken = keys.ltk
    else:
        # Bumble's key "central" is the one with which its central encrypts. The peripheral generates it.
        taken, given = keys.ltk_central, keys.ltk_peripheral
        if not is_central:
            given, taken = taken, given
    for name, theirs in {"centralKey": given, "peripheralKey": taken}.items():
        expect(bond[name], theirs.value[::-1].hex(), name)
        named = (bond.get(f"{name}EDIV", 0), bond.get(f"{name}Rand", bytes(8).hex()))
        expect(named, (theirs.ediv or 0, (theirs.rand or bytes(8))[::-1].hex()), f"EDIV and Rand of {name}")
    expect(bond["peerIdentityKey"], host.irk[::-1].hex(), "Bumble's identity key")
    expect(bond["secureConnections"], secure_connections, "whether it was LE Secure Connections")
    return keys
