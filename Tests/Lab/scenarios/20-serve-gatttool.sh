# `bletool serve` on a kernel adapter, used by gatttool from another.
# limit: 120
two_adapters

background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve "address == '$peripheral' and addressType == 'public'"
received >received.log
check 'it is on the air with its name' grep -q "^$peripheral name=Lab" received.log
check 'idle, it costs next to nothing' idle serve

gatt() { timeout "$(units 15)" gatttool -i hci1 -b "$peripheral" "$@"; }
check 'services' output 'uuid: 0000fff0-0000-1000-8000-00805f9b34fb' gatt --primary
check 'characteristics' output 'char value handle = 0x0026, uuid = 0000fff3-' gatt --characteristics
check 'descriptors' output 'handle = 0x0027, uuid = 00002902-' gatt --char-desc
check 'read' output '66 72 6f 6d 20 62 6c 65 74 6f 6f 6c' gatt --char-read -a 0x0022
check 'read by UUID' output 'value: 00' gatt --char-read -u fff2
check 'a value from a program' output '4c 69 6e 75 78' gatt --char-read -a 0x002c
check 'write' output 'written successfully' gatt --char-write-req -a 0x0024 -n 0102
check 'the value stays' output 'value/descriptor: 01 02' gatt --char-read -a 0x0024
long=$(printf '%02x' {0..99})
check 'long write' output 'written successfully' gatt --char-write-req -a 0x0024 -n "$long"
check 'long read' output '5f 60 61 62 63' gatt --char-read -a 0x0024
check 'a read-only value refuses to be written' output "can't be written" \
    gatt --char-write-req -a 0x0022 -n 00
timeout "$(units 4)" stdbuf -oL gatttool -i hci1 -b "$peripheral" --char-write-req -a 0x0027 -n 0100 --listen >notify.log
check 'notifications' at_least 3 'Notification handle = 0x0026' notify.log
timeout "$(units 4)" stdbuf -oL gatttool -i hci1 -b "$peripheral" --char-write-req -a 0x002a -n 0200 --listen >indicate.log
check 'indications' at_least 3 'Indication   handle = 0x0029' indicate.log

check 'it reports the write' ndjson serve.out "
    event == 'write' and handle == 0x24 and value == '0102' and type == 'request' and central == '$central'"
check 'it reports reads, subscriptions, notifications and confirmations' ndjson serve.out \
    "event == 'read' and handle == 0x22" "event == 'subscribed'" "event == 'notified'" "event == 'confirmed'"
check 'it reports connection and disconnection' wait_for 10 ndjson serve.out \
    "event == 'connected' and central == '$central' and addressType == 'public'" "event == 'disconnected'"

# The kernel keeps a link for two seconds after its last user.
on_air() { output "^$peripheral name=Lab" received; }
links() { grep -c '"event":"connected"' serve.out; }
check 'it is on the air again' wait_for 10 on_air
before=$(links)
check 'a new connection works' output '66 72 6f 6d' gatt --char-read -a 0x0022
check 'it is reported' test "$(links)" -gt "$before"
check 'and it is on the air once more' wait_for 10 on_air

check 'Ctrl-C ends it by that signal' ends serve 'signal INT' INT
check 'it is off the air' not_received "$peripheral"
