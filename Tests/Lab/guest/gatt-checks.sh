# Sourced by the scenarios that use `bletool gatt` on hci1 against a server at $peripheral with the service 0xFFF0,
# which `bletool serve` and bluetoothd offer alike (serve.yaml, gatt-server).

gatt() { bletool gatt "$peripheral/public" "$@" --adapter hci1 --json --connect-timeout "$(units 40)s"; }

# reads ATTRIBUTE HEX
reads() { run read gatt read "$1" && ndjson read.out "value == '$2'"; }

check 'tree' run tree gatt tree --values
check 'the tree has the service, its characteristics and the MTU' ndjson tree.out "
    event == 'tree' and address == '$peripheral' and mtu > 23
    and [set(c['properties']) for s in services if s['uuid'] == 'fff0' for c in s['characteristics']][:4]
        == [{'read'}, {'read', 'write', 'writeWithoutResponse'}, {'notify'}, {'indicate'}]"
check 'the tree has the values' ndjson tree.out "
    any(bytes.fromhex(c['value'] or '').startswith(b'from b') for s in services for c in s['characteristics'])"

check 'read' run read gatt read fff1
check 'its value' ndjson read.out "event == 'value' and uuid == 'fff1' and bytes.fromhex(value).startswith(b'from b')"
check 'read by path, from an offset' run read gatt read fff0/fff1 --offset 5
check 'its value' ndjson read.out "bytes.fromhex(value).startswith(b'b')"

check 'write' run write gatt write fff2 010203
check 'its octets' ndjson write.out "event == 'written' and octets == 3"
check 'the value stays' reads fff2 010203
check 'write without response' run write gatt write fff2 04 --without-response
check 'the value stays' reads fff2 04
long=$(printf '%02x' {0..255} {0..243})
# On the same link bluetoothd would neither take the small MTU nor, afterwards, leave it.
wait_for 10 unlinked
check 'a write of 500 octets' run write gatt write fff2 "$long" --mtu 100
wait_for 10 unlinked
check 'the value stays' reads fff2 "$long"

check 'notifications' run notify gatt notify fff3 --count 5 --timeout "$(units 40)s"
check 'five of them' at_least 5 '"event":"notification"' notify.out
check 'indications' run indicate gatt notify fff4 --indicate --count 3 --timeout "$(units 40)s"
check 'three of them' at_least 3 '"event":"indication"' indicate.out

check 'what is not there: status 2' exits 2 gatt read 2a19
check 'what may not be written: status 5' exits 5 gatt write fff1 00
check 'a device that is not there: status 2' \
    exits 2 bletool gatt C0:00:00:00:00:01/random tree --adapter hci1 --connect-timeout 3s
