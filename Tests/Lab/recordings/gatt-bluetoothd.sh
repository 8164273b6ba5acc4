# `bletool gatt` with bluetoothd, recorded at its adapter: tree, read, write, long write and read, notifications,
# indications.
two_adapters
bluetoothd_server
record hci1
gatt() { bletool gatt "$peripheral/public" "$@" --adapter hci1 --json --connect-timeout 15s; }
check 'tree' gatt tree --values
check 'read' gatt read fff1
check 'write' gatt write fff2 0102
# On the link of the previous commands, bluetoothd would keep its larger MTU.
wait_for 10 unlinked
check 'long write' gatt write fff2 "$(printf '%02x' {0..99})" --mtu 50
check 'long read' gatt read fff2 --mtu 50
wait_for 10 unlinked
check 'notifications' gatt notify fff3 --count 3 --timeout 15s
check 'indications' gatt notify fff4 --indicate --count 3 --timeout 15s
wait_for 10 unlinked
recorded
