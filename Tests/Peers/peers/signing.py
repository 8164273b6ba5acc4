"""Signed Write Commands (Core Specification 5.4, Vol 3, Part F, 3.4.5.4, and Part H, 2.4.5)."""
from bumble.crypto import aes_cmac

OPCODE = b"\xd2"
# The signing key that Bumble distributes.
BUMBLES_KEY = bytes(16)


def signature(message, counter, key):
    """Returns the signature of a message: the counter and the MAC. The key has the octet order of its packet."""
    message += counter.to_bytes(4, "little")
    return counter.to_bytes(4, "little") + aes_cmac(message[::-1], key[::-1])[:8][::-1]


def signed_write(handle, value, counter, key):
    """Returns the command."""
    message = OPCODE + handle.to_bytes(2, "little") + value
    return message + signature(message, counter, key)


def verified(command, key):
    """Returns the handle, the value and the counter of a command. Fails if that key does not verify the signature."""
    message, counter = command[:-12], int.from_bytes(command[-12:-8], "little")
    assert command[-12:] == signature(message, counter, key), f"{command.hex()} is not signed by {key.hex()}"
    return int.from_bytes(message[1:3], "little"), message[3:], counter
