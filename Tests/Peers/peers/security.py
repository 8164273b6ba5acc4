"""Packets of the security manager protocol as hex, valid and malformed (Core Specification 5.4, Vol 3, Part H, 3)."""
from bumble.crypto import EccKey

SECURITY = 6  # the channel
# Octets of each packet, including its code, by code (Table 3.3 and 3.5 to 3.6.7).
OCTETS = {
    0x01: 7, 0x02: 7, 0x03: 17, 0x04: 17, 0x05: 2, 0x06: 17, 0x07: 11, 0x08: 17, 0x09: 8, 0x0A: 17, 0x0B: 2,
    0x0C: 65, 0x0D: 17, 0x0E: 2,
}
RESERVED = ["00", "0f", "0f" + "55" * 16, "10", "80", "ff", "ff" * 65]
FAILED = 0x05

# Pairing Failed with its reasons (Table 3.7).
OOB_NOT_AVAILABLE, AUTHENTICATION, CONFIRM, KEY_SIZE, NOT_KNOWN, UNSPECIFIED, REPEATED, PARAMETERS, CHECK = (
    f"05{reason:02x}" for reason in (0x02, 0x03, 0x04, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B))


def packet(code, octets=None):
    """Returns a packet with this code, of the valid length or of `octets`."""
    return f"{code:02x}" + "00" * ((octets or OCTETS[code]) - 1)


def features(code, io=3, oob=0, authentication=1, key_size=16):
    """Returns a Pairing Request (1) or Pairing Response (2) of a device without input, output or keys to distribute."""
    return bytes([code, io, oob, authentication, key_size, 0, 0]).hex()


SECURE = 9  # bonding, LE Secure Connections


def misshapen():
    """Yields packets with a wrong length for each code: only the code, one octet too few, one octet too many."""
    for code, octets in OCTETS.items():
        for wrong in {1, octets - 1, octets + 1}:
            yield packet(code, wrong)


class PublicKey:
    """A point of the curve P-256, and a point that is not on the curve."""

    def __init__(self):
        self.pair = EccKey.generate()
        self.x = self.pair.x[::-1]
        self.packet = "0c" + (self.x + self.pair.y[::-1]).hex()
        self.beside_the_curve = self.packet[:-64] + bytes([self.pair.y[-1] ^ 1]).hex() + self.packet[-62:]


NOWHERE = packet(0x0C)  # the point (0, 0)
# The debug key, whose private key is published (2.3.5.6.1).
DEBUG = "0c" + (
    bytes.fromhex("20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6")[::-1]
    + bytes.fromhex("dc809c49652aeb6d63329abf5a52155c766345c28fed3024741c8ed01589d28b")[::-1]).hex()
