"""The status of the answer to commands of the extended family, valid and invalid."""
from peers.commands import *
from peers.scenario import scenario
from peers.statuses import *

CONNECTABLE, SCANNABLE, DIRECTED, HIGH_DUTY, LEGACY, ANONYMOUS, POWER = (1 << bit for bit in range(7))
LARGEST = "00" * 251

ENABLED = "Only an enabled connectable set must keep its address, and this set is not connectable (7.8.52)."
CAPACITY = "RootCanal stores 512 octets."
TRAIN = "RootCanal removes sets with enabled trains, which must be 0x0c (7.8.59, 7.8.60)."

TABLE = {
    "set parameters": [
        (set_parameters(), SUCCESS),
        (set_parameters(handle=0xF0), INVALID, RESERVED),
        (set_parameters(properties=CONNECTABLE | SCANNABLE), INVALID),
        (set_parameters(properties=CONNECTABLE | ANONYMOUS), INVALID, RESERVED),
        (set_parameters(properties=DIRECTED | HIGH_DUTY), INVALID, RESERVED),
        (set_parameters(properties=LEGACY | CONNECTABLE), INVALID),
        (set_parameters(properties=LEGACY | ANONYMOUS), INVALID, RESERVED),
        (set_parameters(properties=LEGACY | CONNECTABLE | SCANNABLE), SUCCESS),
        (set_parameters(properties=LEGACY, primary=LE_CODED), INVALID),
        (set_parameters(interval=(31, 160)), INVALID, RANGE),
        (set_parameters(interval=(200, 160)), INVALID),
        (set_parameters(interval=(160, 0xFFFFFF)), SUCCESS),
        (set_parameters(channels=0), INVALID),
        (set_parameters(own=4), INVALID, RESERVED),
        (set_parameters(policy=4), INVALID, RESERVED),
        (set_parameters(power=21), INVALID, RESERVED),
        (set_parameters(power=-127), SUCCESS),
        (set_parameters(primary=LE_2M), INVALID, RESERVED),
        (set_parameters(primary=4), INVALID, RESERVED),
        (set_parameters(primary=LE_CODED, secondary=LE_CODED), SUCCESS),
        (set_parameters(secondary=LE_2M), SUCCESS),
        (set_parameters(secondary=4), INVALID, RESERVED),
        (set_parameters(sid=16), INVALID, RESERVED),
        (set_parameters(notify=2), INVALID, RESERVED),
        (set_parameters(properties=DIRECTED, peer=(2, SOME_DEVICE)), INVALID, RESERVED),
    ],
    "sets": [
        (remove_set(), UNKNOWN_SET),
        (set_data("020106"), UNKNOWN_SET),
        (set_random_address(), UNKNOWN_SET),
        (set_enable(), UNKNOWN_SET),
        (set_enable(0), UNKNOWN_SET),
        (set_enable(0, ()), SUCCESS),
        (set_enable(1, ()), INVALID),
        (set_parameters(), SUCCESS),
        (set_enable(), INVALID),  # there is no random address
        (set_random_address(), SUCCESS),
        (set_enable(1, ((0, 0, 0), (0, 0, 0))), INVALID),
        (set_enable(1, ((0, 0, 0), (1, 0, 0))), UNKNOWN_SET),
        (set_enable(2), INVALID, RESERVED),
        (set_enable(), SUCCESS),
        (set_enable(), SUCCESS),
        (set_random_address(), SUCCESS, RootCanal(DISALLOWED, ENABLED)),
        (set_parameters(), DISALLOWED),
        (remove_set(), DISALLOWED),
        (CLEAR_SETS, DISALLOWED),
        (set_enable(0), SUCCESS),
        (remove_set(), SUCCESS),
        (remove_set(), UNKNOWN_SET),
        (CLEAR_SETS, SUCCESS),
    ],
    "connectable sets": [
        (set_parameters(properties=CONNECTABLE), SUCCESS),
        (set_random_address(), SUCCESS),
        (set_enable(), SUCCESS),
        (set_random_address(), DISALLOWED),
        (set_enable(0), SUCCESS),
        (set_parameters(properties=LEGACY | CONNECTABLE | DIRECTED | HIGH_DUTY, peer=(RANDOM, SOME_DEVICE)), SUCCESS),
        (set_enable(), INVALID),  # high duty cycle requires a duration
        (set_enable(1, ((0, 129, 0),)), INVALID),
        (set_enable(1, ((0, 128, 0),)), SUCCESS),
    ],
    "data": [
        (set_parameters(), SUCCESS),
        (set_data("020106", operation=4), INVALID),
        (set_data("020106"), SUCCESS),
        (set_data("", operation=1), INVALID),
        (set_data("0201", operation=5), INVALID),
        (set_scan_response("020106"), INVALID),  # the set is not scannable
        (set_data("", operation=4), INVALID),  # it is not enabled
        (set_random_address(), SUCCESS),
        (set_data("0201", operation=1), SUCCESS),
        (set_enable(), DISALLOWED),  # the data are incomplete
        (set_data("06", operation=2), SUCCESS),
        (set_enable(), SUCCESS),
        (set_data("0201", operation=1), DISALLOWED),
        (set_data("020104"), SUCCESS),
        (set_data("", operation=4), SUCCESS),
        (set_enable(0), SUCCESS),
        (set_parameters(properties=SCANNABLE), INVALID),  # it has data
        (set_data(""), SUCCESS),
        (set_parameters(properties=SCANNABLE), SUCCESS),
        (set_data("020106"), INVALID),  # a scannable set has only a scan response
        (set_enable(), DISALLOWED),  # there is no scan response
        (set_scan_response("020106"), SUCCESS),
        (set_enable(), SUCCESS),
        (set_scan_response(""), DISALLOWED),
    ],
    "data of legacy packets": [
        (set_parameters(properties=LEGACY | SCANNABLE), SUCCESS),
        (set_data("00" * 32), INVALID),
        (set_data("0201", operation=1), INVALID),
        (set_data("00" * 31), SUCCESS),
        (set_scan_response("00" * 32), INVALID),
        (set_scan_response("00" * 31), SUCCESS),
    ],
    "much data": [
        (set_parameters(), SUCCESS),
        (set_data(LARGEST, operation=1), SUCCESS),
        (set_data(LARGEST, operation=0), SUCCESS),
        *((set_data(LARGEST, operation=0), SUCCESS, CAPACITY) for _ in range(4)),
        (set_data("00" * 145, operation=2), MEMORY),  # 1,651 octets
    ],
    "trains": [
        (train_parameters(), UNKNOWN_SET),
        (set_parameters(properties=CONNECTABLE), SUCCESS),
        (train_parameters(), INVALID),
        (set_parameters(properties=ANONYMOUS), SUCCESS),
        (train_parameters(), INVALID),
        (set_parameters(), SUCCESS),
        (train_enable(), DISALLOWED),  # it has no parameters
        (train_data("020106"), DISALLOWED),
        (train_parameters(interval=(5, 5)), INVALID),
        (train_parameters(interval=(90, 80)), INVALID),
        (train_parameters(properties=POWER), SUCCESS),
        (train_data("0201", operation=1), SUCCESS),
        (train_enable(), DISALLOWED),  # the data are incomplete
        (train_data("06", operation=2), SUCCESS),
        (train_enable(0), SUCCESS),
        (train_enable(1, 5), UNKNOWN_SET),
        (train_enable(4), UNSUPPORTED, RESERVED),
        (train_enable(), SUCCESS),
        (train_parameters(), DISALLOWED),
        (train_data("0201", operation=1), DISALLOWED),
        (train_data("020104"), SUCCESS),
        (remove_set(), DISALLOWED, TRAIN),
        (CLEAR_SETS, DISALLOWED, TRAIN),
        (set_parameters(properties=CONNECTABLE), INVALID),
        (train_enable(0), SUCCESS),
        (remove_set(), SUCCESS),
    ],
    "scanning": [
        (extended_scan_parameters(phys=0), INVALID),
        (extended_scan_parameters(phys=2), UNSUPPORTED, RESERVED),
        (extended_scan_parameters(phys=8), UNSUPPORTED, RESERVED),
        (extended_scan_parameters(kind=2), INVALID, RESERVED),
        (extended_scan_parameters(interval=3, window=3), INVALID),
        (extended_scan_parameters(interval=16, window=17), INVALID),
        (extended_scan_parameters(own=4), INVALID, RESERVED),
        (extended_scan_parameters(policy=4), INVALID, RESERVED),
        (extended_scan_parameters(phys=5, interval=0xFFFF), SUCCESS),
        (extended_scan_enable(), INVALID),  # there is no random address
        (random_address(), SUCCESS),
        (extended_scan_enable(filter_duplicates=3), INVALID, RESERVED),
        (extended_scan_enable(filter_duplicates=2), INVALID),
        (extended_scan_enable(duration=128, period=1), INVALID),  # both are 1.28 s
        (extended_scan_enable(duration=127, period=1), SUCCESS),
        (extended_scan_enable(), SUCCESS),
        (extended_scan_parameters(), DISALLOWED),
        (random_address(), DISALLOWED),
        (extended_scan_enable(0), SUCCESS),
        (extended_scan_enable(0), SUCCESS),
    ],
    "connecting": [
        (extended_create_connection(), INVALID),  # there is no random address
        (random_address(), SUCCESS),
        (extended_create_connection(phys=0), INVALID),
        (extended_create_connection(phys=2), INVALID, RESERVED),
        (extended_create_connection(phys=8), UNSUPPORTED, RESERVED),
        (extended_create_connection(policy=2), INVALID, RESERVED),
        (extended_create_connection(own=4), INVALID, RESERVED),
        (extended_create_connection(peer=(4, SOME_DEVICE)), INVALID, RESERVED),
        (extended_create_connection(scan=(16, 17)), INVALID),
        (extended_create_connection(interval=(5, 5)), INVALID, RANGE),
        (extended_create_connection(latency=500), INVALID, RANGE),
        (extended_create_connection(timeout=9), INVALID, RANGE),
        (extended_create_connection(phys=7), SUCCESS),
        (extended_create_connection(), DISALLOWED),
        (CREATE_CONNECTION_CANCEL, SUCCESS),
    ],
    "following trains": [
        (CREATE_SYNC_CANCEL, DISALLOWED),
        (terminate_sync(), UNKNOWN_SET),
        (train_receive_enable(), UNKNOWN_SET, LACKING),
        (create_sync(options=8), INVALID, RESERVED),
        (create_sync(sid=16), INVALID, RESERVED),
        (create_sync(advertiser=(2, SOME_DEVICE)), INVALID, RESERVED),
        (create_sync(skip=500), INVALID, RESERVED),
        (create_sync(timeout=9), INVALID, RESERVED),
        (create_sync(timeout=0x4001), INVALID, RESERVED),
        (create_sync(tones=0x1F), DISALLOWED),
        (add_to_advertiser_list(), SUCCESS),
        (add_to_advertiser_list(), INVALID),
        (add_to_advertiser_list(sid=16), INVALID, RESERVED),
        (add_to_advertiser_list((2, SOME_DEVICE)), INVALID, RESERVED),
        (remove_from_advertiser_list(sid=1), UNKNOWN_SET),
        (create_sync(options=1), SUCCESS),
        (create_sync(), DISALLOWED),
        (add_to_advertiser_list(sid=1), DISALLOWED),
        (remove_from_advertiser_list(), DISALLOWED),
        (CLEAR_ADVERTISER_LIST, DISALLOWED),
        (CREATE_SYNC_CANCEL, SUCCESS),
        (CREATE_SYNC_CANCEL, DISALLOWED),
        (remove_from_advertiser_list(), SUCCESS),
        (CLEAR_ADVERTISER_LIST, SUCCESS),
    ],
}


async def steps(radio):
    await compare(radio, TABLE)


scenario(steps)
