# `bletool serve` with gatttool, recorded at its adapter: discovery, read, write, long write and read, notifications.
two_adapters
record hci0
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
gatt() { timeout 15 gatttool -i hci1 -b "$peripheral" "$@"; }
check 'primary services' gatt --primary
check 'characteristics' gatt --characteristics
check 'descriptors' gatt --char-desc
check 'read' gatt --char-read -a 0x0022
check 'write' gatt --char-write-req -a 0x0024 -n 0102
check 'long write' gatt --char-write-req -a 0x0024 -n "$(printf '%02x' {0..59})"
check 'long read' gatt --char-read -a 0x0024
check 'notifications' exits 124 timeout 3 \
    gatttool -i hci1 -b "$peripheral" --char-write-req -a 0x0027 -n 0100 --listen
check 'the link ends' wait_for 10 ndjson serve.out "event == 'disconnected'"
check 'Ctrl-C' ends serve 'signal INT' INT
recorded
