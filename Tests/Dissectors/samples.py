"""A recording with packets that the other recordings lack: each packet of SMP and of LE signaling once."""
import pathlib
import struct

FRAMES = [
    "0700 0600 01 03 00 0d 10 01 02", "0700 0600 02 04 01 2d 07 07 0b",
    "1100 0600 03 000102030405060708090a0b0c0d0e0f", "1100 0600 04 0f0e0d0c0b0a09080706050403020100",
    "0200 0600 05 05", "1100 0600 06 000102030405060708090a0b0c0d0e0f",
    "0b00 0600 07 0102 0807060504030201", "1100 0600 08 000102030405060708090a0b0c0d0e0f",
    "0800 0600 09 01 0605040302c1", "1100 0600 0a 000102030405060708090a0b0c0d0e0f", "0200 0600 0b 0d",
    "4100 0600 0c " + "".join(f"{octet:02x}" for octet in range(64)),
    "1100 0600 0d 000102030405060708090a0b0c0d0e0f", "0200 0600 0e 04",
    "0c00 0500 12 07 0800 0600 0c00 0000 f401", "0600 0500 13 07 0200 0100", "0600 0500 01 07 0200 0000",
    "0800 0500 06 07 0400 4000 4100", "0e00 0500 14 07 0a00 8000 4000 0002 0001 0a00",
    "0e00 0500 15 07 0a00 4000 0002 0001 0a00 0000", "0800 0500 16 07 0400 4000 0500",
]
# The beginning of 1970 as a time of btsnoop, in microseconds.
EPOCH = 0x00DCDDB30F2F8000


def write(folder):
    """Writes the recording to the folder, and returns its path."""
    file = pathlib.Path(folder) / "samples.btsnoop"
    records = b"btsnoop\0" + struct.pack(">II", 1, 1002)
    for index, frame in enumerate(FRAMES):
        data = bytes.fromhex(frame.replace(" ", ""))
        packet = b"\x02" + struct.pack("<HH", 0x2040, len(data)) + data
        time = EPOCH + 1_795_000_000_000_000 + index * 1000
        records += struct.pack(">IIIIq", len(packet), len(packet), 1, 0, time) + packet
    file.write_bytes(records)
    return str(file)
