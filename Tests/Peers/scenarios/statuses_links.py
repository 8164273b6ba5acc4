"""The status of the answer to commands on a connection, valid and invalid, in both roles."""
from peers.commands import *
from peers.raw import h4
from peers.scenario import scenario
from peers.statuses import *

CENTRAL = 0xC0FFEE000002
NO_QUESTION = "RootCanal accepts replies without a request."
ROLE = "Only a central starts encryption (7.8.24). RootCanal accepts the command in both roles, and while encryption starts."
TWICE = "RootCanal tries to connect again to a connected device, which must be 0x0b (Vol 1, Part F, 2.11)."


def both(handle):
    """Returns the rows with the same status in both roles."""
    return [
        (read_rssi(handle), SUCCESS),
        (read_phy(handle), SUCCESS),
        (read_channel_map(handle), SUCCESS, LACKING),
        (read_transmit_power(handle), SUCCESS, LACKING),
        (read_transmit_power(handle, 2), INVALID, LACKING),
        (set_data_length(handle, 26), INVALID, LACKING),
        (set_data_length(handle, 252), INVALID, LACKING),
        (set_data_length(handle, 251, 17041), INVALID, LACKING),
        (set_data_length(handle, 251, 2120), SUCCESS, LACKING),
        (set_phy(handle, transmit=0), INVALID),
        (set_phy(handle, transmit=8), UNSUPPORTED, RootCanal(INVALID, PHYS)),
        (set_phy(handle, no_preference=4), INVALID, RESERVED),
        (key_reply(handle), DISALLOWED, RootCanal(SUCCESS, NO_QUESTION)),
        (key_negative_reply(handle), DISALLOWED, RootCanal(SUCCESS, NO_QUESTION)),
        (read_payload_timeout(handle), SUCCESS, LACKING),
        (payload_timeout(handle, 0), INVALID, LACKING),
        (payload_timeout(handle, 2), INVALID, LACKING),  # 20 ms, less than the interval
        (payload_timeout(handle, 1000), SUCCESS, LACKING),
        (host_flow_control(), DISALLOWED, LACKING),
        (host_flow_control(0), SUCCESS, LACKING),
        (disconnect(handle, 0x00), INVALID, RESERVED),
        (disconnect(handle, 0x16), INVALID, RESERVED),
        (connection_update(handle, interval=(5, 5)), INVALID, RESERVED),
        (connection_update(handle, interval=(40, 24)), INVALID, RESERVED),
        (connection_update(handle, latency=500), INVALID, RESERVED),
        (connection_update(handle, timeout=9), INVALID, RESERVED),
        (parameter_request_reply(handle), DISALLOWED, RootCanal(SUCCESS, NO_QUESTION)),
        (parameter_request_negative_reply(handle), DISALLOWED, RootCanal(SUCCESS, NO_QUESTION)),
        (CREATE_CONNECTION_CANCEL, DISALLOWED),
    ]


def at_the_central(handle):
    return both(handle) + [
        (create_connection(), EXISTS, TWICE),
        (read_remote_features(handle), SUCCESS),
        (read_remote_version(handle), SUCCESS),
        (connection_update(handle), SUCCESS),
        (enable_encryption(handle), SUCCESS),
        (enable_encryption(handle), DISALLOWED, RootCanal(SUCCESS, ROLE)),
        (advertising_parameters(), SUCCESS),
        (disconnect(handle), SUCCESS),
    ]


def at_the_peripheral(handle):
    return both(handle) + [
        (enable_encryption(handle), DISALLOWED, RootCanal(SUCCESS, ROLE)),
        (advertising_enable(0), SUCCESS),
        (random_address(), SUCCESS),
    ]


def connection_complete(packet):
    return packet[:2] == b"\x04\x3e" and packet[3] in (0x01, 0x0A)


def disconnection_complete(packet):
    return packet[:2] == b"\x04\x05"


async def steps(radio):
    async with h4(radio) as central, h4(radio) as peripheral:
        for host, address in ((central, CENTRAL), (peripheral, SOME_DEVICE)):
            for command in (RESET, set_event_mask(), le_set_event_mask(), random_address(address)):
                assert await status(*host, command) == SUCCESS
        for host, command in (
                (peripheral, advertising_parameters()), (peripheral, advertising_enable()),
                (central, create_connection())):
            assert await status(*host, command) == SUCCESS
        handles = []
        for host in (central, peripheral):
            packet = await event(host[0], connection_complete, "a connection")
            assert packet[4] == SUCCESS
            handles.append(int.from_bytes(packet[5:7], "little"))
        found = await differences(*peripheral, "peripheral", at_the_peripheral(handles[1]))
        found += await differences(*central, "central", at_the_central(handles[0]))
        for host, handle in zip((central, peripheral), handles):
            await event(host[0], disconnection_complete, "the end of the connection")
            found += await differences(*host, "afterwards", [(read_rssi(handle), UNKNOWN_CONNECTION)])
    assert not found, "\n".join(found)


scenario(steps)
