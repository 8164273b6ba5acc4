# BlueZ on both sides, recorded at gatttool's adapter: discovery, read, write, long write and read, notifications.
two_adapters
bluetoothd_server
record hci1
gatt() { timeout 15 gatttool -i hci1 -b "$peripheral" "$@"; }
handle() { printf '0x%04x' $(($(sed -n "s/.*char value handle = \(0x....\), uuid = 0000$1-.*/\1/p" found.out) + ${2:-0})); }
check 'primary services' gatt --primary
check 'characteristics' run found gatt --characteristics
check 'descriptors' gatt --char-desc
check 'read' gatt --char-read -a "$(handle fff1)"
check 'write' gatt --char-write-req -a "$(handle fff2)" -n 0102
check 'long write' gatt --char-write-req -a "$(handle fff2)" -n "$(printf '%02x' {0..59})"
check 'long read' gatt --char-read -a "$(handle fff2)"
check 'notifications' exits 124 timeout 3 \
    gatttool -i hci1 -b "$peripheral" --char-write-req -a "$(handle fff3 1)" -n 0100 --listen
wait_for 10 unlinked
recorded
