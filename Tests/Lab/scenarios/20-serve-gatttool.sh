# `bletool serve` on a kernel adapter, used by gatttool from another.
# limit: 120
two_adapters

background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve "address == '$peripheral' and addressType == 'public'"
received >received.log
check 'the server is on the air with its name' grep -q "^$peripheral name=Lab" received.log
check 'the idle server uses almost no processor time' idle serve

gatt() { timeout "$(units 15)" gatttool -i hci1 -b "$peripheral" "$@"; }
check 'gatttool finds the services' output 'uuid: 0000fff0-0000-1000-8000-00805f9b34fb' gatt --primary
check 'gatttool finds the characteristics' output 'char value handle = 0x0026, uuid = 0000fff3-' gatt --characteristics
check 'gatttool finds the descriptors' output 'handle = 0x0027, uuid = 00002902-' gatt --char-desc
check 'a read returns the value' output '66 72 6f 6d 20 62 6c 65 74 6f 6f 6c' gatt --char-read -a 0x0022
check 'a read by UUID returns the value' output 'value: 00' gatt --char-read -u fff2
check 'a read returns the output of a program' output '4c 69 6e 75 78' gatt --char-read -a 0x002c
check 'a write succeeds' output 'written successfully' gatt --char-write-req -a 0x0024 -n 0102
check 'the value is stored' output 'value/descriptor: 01 02' gatt --char-read -a 0x0024
long=$(printf '%02x' {0..99})
check 'a long write succeeds' output 'written successfully' gatt --char-write-req -a 0x0024 -n "$long"
check 'a long read returns the value' output '5f 60 61 62 63' gatt --char-read -a 0x0024
check 'a write to a read-only value is refused' output "can't be written" \
    gatt --char-write-req -a 0x0022 -n 00
timeout "$(units 4)" stdbuf -oL gatttool -i hci1 -b "$peripheral" --char-write-req -a 0x0027 -n 0100 --listen >notify.log
check 'gatttool receives notifications' at_least 3 'Notification handle = 0x0026' notify.log
timeout "$(units 4)" stdbuf -oL gatttool -i hci1 -b "$peripheral" --char-write-req -a 0x002a -n 0200 --listen >indicate.log
check 'gatttool receives indications' at_least 3 'Indication   handle = 0x0029' indicate.log

check 'the server reports the write' ndjson serve.out "
    event == 'write' and handle == 0x24 and value == '0102' and type == 'request' and central == '$central'"
check 'the server reports reads, subscriptions, notifications and confirmations' ndjson serve.out \
    "event == 'read' and handle == 0x22" "event == 'subscribed'" "event == 'notified'" "event == 'confirmed'"
check 'the server reports connection and disconnection' wait_for 10 ndjson serve.out \
    "event == 'connected' and central == '$central' and addressType == 'public'" "event == 'disconnected'"

# The kernel keeps a link for two seconds after its last user.
on_air() { output "^$peripheral name=Lab" received; }
links() { grep -c '"event":"connected"' serve.out; }
check 'the server is on the air again' wait_for 10 on_air
before=$(links)
check 'a new connection works' output '66 72 6f 6d' gatt --char-read -a 0x0022
check 'the new connection is reported' test "$(links)" -gt "$before"
check 'the server is on the air after the new connection' wait_for 10 on_air

check 'Ctrl-C ends serve by that signal' ends serve 'signal INT' INT
check 'the server is off the air' not_received "$peripheral"
