"""HCI commands as bytes, with the packet type. The default parameters are valid."""
import struct

NO_DEVICE, SOME_DEVICE = 0, 0xC0FFEE000001  # random addresses
PUBLIC, RANDOM = 0, 1
LE_1M, LE_2M, LE_CODED = 1, 2, 3


def command(opcode, layout="", *values, data=b""):
    parameters = struct.pack("<" + layout, *values) + data
    return struct.pack("<BHB", 1, opcode, len(parameters)) + parameters


def address(value):
    return value.to_bytes(6, "little")


# Controller, information

def set_event_mask(mask=0x3DBFFFFFFFFFFFFF):
    return command(0x0C01, "Q", mask)


def le_set_event_mask(mask=0xFFFFFF):
    return command(0x2001, "Q", mask)


RESET = command(0x0C03)


def host_flow_control(kinds=1):
    return command(0x0C31, "B", kinds)


def host_buffers(length=255, packets=8):
    return command(0x0C33, "HBHH", length, 0, packets, 0)


def random_address(value=SOME_DEVICE):
    return command(0x2005, data=address(value))


# The legacy family

def advertising_parameters(interval=(160, 160), kind=0, own=RANDOM, peer=(PUBLIC, NO_DEVICE), channels=7, policy=0):
    return command(0x2006, "HHBBB6sBB", *interval, kind, own, peer[0], address(peer[1]), channels, policy)


def advertising_data(data="", opcode=0x2008):
    octets = bytes.fromhex(data)
    return command(opcode, "B31s", len(octets), octets)


def scan_response_data(data=""):
    return advertising_data(data, 0x2009)


def advertising_enable(enable=1):
    return command(0x200A, "B", enable)


READ_ADVERTISING_POWER = command(0x2007)


def scan_parameters(kind=0, interval=16, window=16, own=RANDOM, policy=0):
    return command(0x200B, "BHHBB", kind, interval, window, own, policy)


def scan_enable(enable=1, filter_duplicates=0):
    return command(0x200C, "BB", enable, filter_duplicates)


def create_connection(
        scan=(16, 16), policy=0, peer=(RANDOM, SOME_DEVICE), own=RANDOM, interval=(24, 40), latency=0, timeout=42):
    return command(
        0x200D, "HHBB6sBHHHHHH", *scan, policy, peer[0], address(peer[1]), own, *interval, latency, timeout, 0, 0)


CREATE_CONNECTION_CANCEL = command(0x200E)


# Lists

def device(opcode):
    return lambda peer=(RANDOM, SOME_DEVICE): command(opcode, "B6s", peer[0], address(peer[1]))


CLEAR_ACCEPT_LIST = command(0x2010)
add_to_accept_list = device(0x2011)
remove_from_accept_list = device(0x2012)

CLEAR_RESOLVING_LIST = command(0x2029)
remove_from_resolving_list = device(0x2028)
read_peer_resolvable_address = device(0x202B)
read_local_resolvable_address = device(0x202C)


def add_to_resolving_list(peer=(RANDOM, SOME_DEVICE), peer_key=1, local_key=2):
    return command(
        0x2027, "B6s16s16s", peer[0], address(peer[1]), peer_key.to_bytes(16, "little"),
        local_key.to_bytes(16, "little"))


def address_resolution_enable(enable=1):
    return command(0x202D, "B", enable)


def resolvable_address_timeout(seconds=900):
    return command(0x202E, "H", seconds)


def privacy_mode(peer=(RANDOM, SOME_DEVICE), mode=0):
    return command(0x204E, "B6sB", peer[0], address(peer[1]), mode)


# Advertising sets

def set_random_address(handle=0, value=SOME_DEVICE):
    return command(0x2035, "B6s", handle, address(value))


def set_parameters(
        handle=0, properties=0, interval=(160, 160), channels=7, own=RANDOM, peer=(PUBLIC, NO_DEVICE), policy=0,
        power=127, primary=LE_1M, secondary=LE_1M, sid=0, notify=0):
    return command(
        0x2036, "BH3s3sBBB6sBbBBBBB", handle, properties, interval[0].to_bytes(3, "little"),
        interval[1].to_bytes(3, "little"), channels, own, peer[0], address(peer[1]), policy, power, primary, 0,
        secondary, sid, notify)


def set_data(data="", handle=0, operation=3, opcode=0x2037):
    octets = bytes.fromhex(data)
    return command(opcode, "BBBB", handle, operation, 0, len(octets), data=octets)


def set_scan_response(data="", handle=0, operation=3):
    return set_data(data, handle, operation, 0x2038)


def set_enable(enable=1, sets=((0, 0, 0),)):
    entries = b"".join(struct.pack("<BHB", *entry) for entry in sets)
    return command(0x2039, "BB", enable, len(sets), data=entries)


def remove_set(handle=0):
    return command(0x203C, "B", handle)


CLEAR_SETS = command(0x203D)


# Periodic trains

def train_parameters(handle=0, interval=(80, 80), properties=0):
    return command(0x203E, "BHHH", handle, *interval, properties)


def train_data(data="", handle=0, operation=3):
    octets = bytes.fromhex(data)
    return command(0x203F, "BBB", handle, operation, len(octets), data=octets)


def train_enable(enable=1, handle=0):
    return command(0x2040, "BB", enable, handle)


def create_sync(options=0, sid=0, advertiser=(RANDOM, SOME_DEVICE), skip=0, timeout=100, tones=0):
    return command(0x2044, "BBB6sHHB", options, sid, advertiser[0], address(advertiser[1]), skip, timeout, tones)


CREATE_SYNC_CANCEL = command(0x2045)


def terminate_sync(sync=0):
    return command(0x2046, "H", sync)


def advertiser(opcode):
    return lambda peer=(RANDOM, SOME_DEVICE), sid=0: command(opcode, "B6sB", peer[0], address(peer[1]), sid)


add_to_advertiser_list = advertiser(0x2047)
remove_from_advertiser_list = advertiser(0x2048)
CLEAR_ADVERTISER_LIST = command(0x2049)


def train_receive_enable(sync=0, enable=1):
    return command(0x2059, "HB", sync, enable)


# Scanning and connecting with the extended family

def extended_scan_parameters(own=RANDOM, policy=0, phys=1, kind=0, interval=16, window=16):
    scanning = struct.pack("<BHH", kind, interval, window) * phys.bit_count()
    return command(0x2041, "BBB", own, policy, phys, data=scanning)


def extended_scan_enable(enable=1, filter_duplicates=0, duration=0, period=0):
    return command(0x2042, "BBHH", enable, filter_duplicates, duration, period)


def extended_create_connection(
        policy=0, own=RANDOM, peer=(RANDOM, SOME_DEVICE), phys=1, scan=(16, 16), interval=(24, 40), latency=0,
        timeout=42):
    initiating = struct.pack("<8H", *scan, *interval, latency, timeout, 0, 0) * phys.bit_count()
    return command(0x2043, "BBB6sB", policy, own, peer[0], address(peer[1]), phys, data=initiating)


# Connections

def disconnect(handle=0, reason=0x13):
    return command(0x0406, "HB", handle, reason)


def connection_update(handle=0, interval=(24, 40), latency=0, timeout=42):
    return command(0x2013, "HHHHHHH", handle, *interval, latency, timeout, 0, 0)


def parameter_request_reply(handle=0, interval=(24, 40), latency=0, timeout=42):
    return command(0x2020, "HHHHHHH", handle, *interval, latency, timeout, 0, 0)


def parameter_request_negative_reply(handle=0, reason=0x3B):
    return command(0x2021, "HB", handle, reason)


def of_connection(opcode):
    return lambda handle=0: command(opcode, "H", handle)


read_remote_version = of_connection(0x041D)
read_rssi = of_connection(0x1405)
read_channel_map = of_connection(0x2015)
read_remote_features = of_connection(0x2016)
read_phy = of_connection(0x2030)


def read_transmit_power(handle=0, kind=0):
    return command(0x0C2D, "HB", handle, kind)


def payload_timeout(handle=0, timeout=3000):
    return command(0x0C7C, "HH", handle, timeout)


read_payload_timeout = of_connection(0x0C7B)


def enable_encryption(handle=0, key=1, random=0, diversifier=0):
    return command(0x2019, "HQH16s", handle, random, diversifier, key.to_bytes(16, "little"))


def key_reply(handle=0, key=1):
    return command(0x201A, "H16s", handle, key.to_bytes(16, "little"))


key_negative_reply = of_connection(0x201B)


def host_channels(channels=0x1FFFFFFFFF):
    return command(0x2014, data=channels.to_bytes(5, "little"))


def set_data_length(handle=0, octets=27, time=328):
    return command(0x2022, "HHH", handle, octets, time)


def suggested_data_length(octets=27, time=328):
    return command(0x2024, "HH", octets, time)


def default_phy(no_preference=0, transmit=1, receive=1):
    return command(0x2031, "BBB", no_preference, transmit, receive)


def set_phy(handle=0, no_preference=0, transmit=1, receive=1):
    return command(0x2032, "HBBBH", handle, no_preference, transmit, receive, 0)
