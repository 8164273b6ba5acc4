# `bletool serve` on a kernel adapter, used by bluetoothctl through bluetoothd, which reads the Database Hash, says
# what it supports and subscribes to Service Changed by itself.
# limit: 180
two_adapters
bluetoothd
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
bluetoothctl
uuid() { echo "0000$1-0000-1000-8000-00805f9b34fb"; }
check 'the adapter' says 10 "$central" "select $central"
check 'a scan finds it' says 20 "Device $peripheral Lab" 'scan le'
bluez scan off
check 'it connects' says 20 'Connection successful' "connect $peripheral"
check 'its services are resolved' wait_for 20 grep -q 'ServicesResolved: yes' bluetoothctl.out
bluez menu gatt
bluez "select-attribute $(uuid fff1)"
check 'read' says 10 '66 72 6f 6d 20 62 6c 65 74 6f 6f 6c' read
bluez "select-attribute $(uuid fff2)"
bluez 'write "0x01 0x02"'
check 'write' wait_for 10 ndjson serve.out "event == 'write' and handle == 0x24 and value == '0102'"
check 'the value stays' says 10 '01 02' read
bluez "select-attribute $(uuid fff3)"
check 'notifications' says 10 'Value:' 'notify on'
bluez back
check 'it disconnects' says 20 'Successful disconnected' "disconnect $peripheral"
check 'the end of the link is reported' wait_for 10 ndjson serve.out "event == 'disconnected'"
check 'Ctrl-C ends it by that signal' ends serve 'signal INT' INT
