# `user:` takes the controller from the kernel: bletool's host is the peripheral, the kernel the central.
# limit: 180
two_adapters
powered() { mgmt "$1" info | grep 'current settings' | grep -q powered; }

background advertise bletool advertise --adapter user:hci0 --name Userland --service 180d --json
ready advertise "adapter == 'user:hci0' and address == '$peripheral' and addressType == 'public'"
received >received.log
check 'the advertisement is on the air with the name' grep -q "^$peripheral name=Userland" received.log
check 'Ctrl-C ends advertise by that signal' ends advertise 'signal INT' INT
check 'the adapter is powered on again after advertise' wait_for 5 powered 0
check 'the advertisement is off the air' not_received Userland

background serve bletool serve "$here/serve.yaml" --adapter "user:hci:$peripheral" --json
ready serve "address == '$peripheral'"
gatt() { timeout "$(units 15)" gatttool -i hci1 -b "$peripheral" "$@"; }
check 'gatttool reads' output '66 72 6f 6d 20 62 6c 65 74 6f 6f 6c' gatt --char-read -a 0x0022
check 'gatttool writes' output 'written successfully' gatt --char-write-req -a 0x0024 -n 0102
timeout "$(units 4)" stdbuf -oL gatttool -i hci1 -b "$peripheral" --char-write-req -a 0x0027 -n 0100 --listen >notify.log
check 'gatttool receives notifications' at_least 3 'Notification handle = 0x0026' notify.log
check 'the end of the link is reported with its reason' wait_for 10 ndjson serve.out \
    "event == 'disconnected' and reason == 0x13"
check 'bletool on a kernel adapter reads' run read bletool gatt "$peripheral/public" read fff1 --adapter hci1 --json \
    --connect-timeout "$(units 40)s"
check 'the read returns the value' ndjson read.out "bytes.fromhex(value) == b'from bletool'"
check 'SIGTERM ends serve by that signal' ends serve 'signal TERM' TERM
check 'the adapter is powered on again after serve' wait_for 5 powered 0
