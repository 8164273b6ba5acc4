# Sourced by the scenarios that use `bletool gatt` on hci1 with a server at $peripheral that has the service 0xFFF0, as
# `bletool serve` (serve.yaml) and bluetoothd (gatt-server) provide it.

gatt() { bletool gatt "$peripheral/public" "$@" --adapter hci1 --json --connect-timeout "$(units 40)s"; }

# reads ATTRIBUTE HEX: succeeds if a read returns the value HEX.
reads() { run read gatt read "$1" && ndjson read.out "value == '$2'"; }

check 'tree succeeds' run tree gatt tree --values
check 'tree prints the service, its characteristics and the MTU' ndjson tree.out "
    event == 'tree' and address == '$peripheral' and mtu > 23
    and [set(c['properties']) for s in services if s['uuid'] == 'fff0' for c in s['characteristics']][:4]
        == [{'read'}, {'read', 'write', 'writeWithoutResponse'}, {'notify'}, {'indicate'}]"
check 'tree prints the values' ndjson tree.out "
    any(bytes.fromhex(c['value'] or '').startswith(b'from b') for s in services for c in s['characteristics'])"

check 'a read succeeds' run read gatt read fff1
check 'the read returns the value' ndjson read.out "event == 'value' and uuid == 'fff1' and bytes.fromhex(value).startswith(b'from b')"
check 'a read by path, from an offset, succeeds' run read gatt read fff0/fff1 --offset 5
check 'the read returns the rest of the value' ndjson read.out "bytes.fromhex(value).startswith(b'b')"

check 'a write succeeds' run write gatt write fff2 010203
check 'the number of octets is printed' ndjson write.out "event == 'written' and octets == 3"
check 'the value is stored' reads fff2 010203
check 'a write without response succeeds' run write gatt write fff2 04 --without-response
check 'the value of the write without response is stored' reads fff2 04
long=$(printf '%02x' {0..255} {0..243})
# On the same link, bluetoothd would neither accept the small MTU nor change it back afterwards.
wait_for 10 unlinked
check 'a write of 500 octets succeeds' run write gatt write fff2 "$long" --mtu 100
wait_for 10 unlinked
check 'the long value is stored' reads fff2 "$long"

check 'notify with notifications succeeds' run notify gatt notify fff3 --count 5 --timeout "$(units 40)s"
check 'five notifications arrive' at_least 5 '"event":"notification"' notify.out
check 'notify with indications succeeds' run indicate gatt notify fff4 --indicate --count 3 --timeout "$(units 40)s"
check 'three indications arrive' at_least 3 '"event":"indication"' indicate.out

check 'read of an absent characteristic: status 2' exits 2 gatt read 2a19
check 'write to a read-only characteristic: status 5' exits 5 gatt write fff1 00
check 'connection to an absent device: status 2' \
    exits 2 bletool gatt C0:00:00:00:00:01/random tree --adapter hci1 --connect-timeout 3s
