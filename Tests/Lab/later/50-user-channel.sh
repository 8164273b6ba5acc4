# `user:` takes the controller from the kernel: our link layer against the kernel's, in both roles.
# limit: 120
two_adapters
powered() { mgmt "$1" info | grep 'current settings' | grep -q powered; }

background serve bletool serve "$here/serve.yaml" --adapter user:hci0 --json
ready serve
peripheral=$(grep -o '"address":"[^"]*"' serve.out | head -1 | cut -d'"' -f4)
kind=$(grep -o '"addressType":"[^"]*"' serve.out | head -1 | cut -d'"' -f4)
gatt() { timeout 15 gatttool -i hci1 -b "$peripheral" -t "${kind:-public}" "$@"; }
check 'gatttool reads' output '66 72 6f 6d 20 62 6c 65 74 6f 6f 6c' gatt --char-read -a 0x0022
check 'gatttool writes' output 'written successfully' gatt --char-write-req -a 0x0024 -n 0102
timeout 4 stdbuf -oL gatttool -i hci1 -b "$peripheral" -t "${kind:-public}" \
    --char-write-req -a 0x0027 -n 0100 --listen >notify.log
check 'gatttool is notified' at_least 3 'Notification handle = 0x0026' notify.log
check 'the end of the link is reported with its reason' wait_for 10 ndjson serve.out \
    "event == 'disconnected' and reason == 0x13"
check 'Ctrl-C ends it by that signal' ends serve 'signal INT' INT
check 'the adapter has power again' wait_for 5 powered 0

background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
user() { bletool "$@" --adapter user:hci1 --json; }
check 'scan' run scan user scan --count 1 --name Lab --timeout 10s
check 'gatt read' run read user gatt "$(address hci0)/public" read fff1 --connect-timeout 15s
check 'its value' ndjson read.out "bytes.fromhex(value) == b'from bletool'"
check 'gatt notify' run notify user gatt "$(address hci0)/public" notify fff3 --count 3 --timeout 15s
check 'the adapter has power again' wait_for 5 powered 1

background holder bletool scan --adapter user:hci1 --json
sleep 2
check 'an adapter that another process holds: status 3' exits 3 bletool scan --adapter user:hci1 --timeout 2s
