# `bletool serve` on a kernel adapter, used by bluetoothctl through bluetoothd, which by itself reads the Database Hash,
# writes its Client Supported Features and subscribes to Service Changed.
# limit: 180
two_adapters
bluetoothd
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
bluetoothctl
uuid() { echo "0000$1-0000-1000-8000-00805f9b34fb"; }
check 'bluetoothctl has the adapter' prints 10 "$central" "select $central"
check 'a scan finds the server' prints 20 "Device $peripheral Lab" 'scan le'
bluez scan off
check 'bluetoothctl connects' prints 20 'Connection successful' "connect $peripheral"
check 'the services are resolved' wait_for 20 grep -q 'ServicesResolved: yes' bluetoothctl.out
bluez menu gatt
bluez "select-attribute $(uuid fff1)"
check 'a read returns the value' prints 10 '66 72 6f 6d 20 62 6c 65 74 6f 6f 6c' read
bluez "select-attribute $(uuid fff2)"
bluez 'write "0x01 0x02"'
check 'the server receives the write' wait_for 10 ndjson serve.out "event == 'write' and handle == 0x24 and value == '0102'"
check 'the value is stored' prints 10 '01 02' read
bluez "select-attribute $(uuid fff3)"
check 'bluetoothctl receives notifications' prints 10 'Value:' 'notify on'
bluez back
check 'bluetoothctl disconnects' prints 20 'Successful disconnected' "disconnect $peripheral"
check 'the end of the link is reported' wait_for 10 ndjson serve.out "event == 'disconnected'"
check 'Ctrl-C ends serve by that signal' ends serve 'signal INT' INT
