# `user:` as central against a server on the kernel's side; other programs learn which process holds an adapter.
# limit: 180
two_adapters
powered() { mgmt "$1" info | grep 'current settings' | grep -q powered; }

background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
user() { bletool "$@" --adapter user:hci1 --json; }
check 'scan' run scan user scan --count 1 --name Lab --timeout "$(units 40)s"
check 'gatt read' run read user gatt "$peripheral/public" read fff1 --connect-timeout "$(units 40)s"
check 'its value' ndjson read.out "bytes.fromhex(value) == b'from bletool'"
check 'gatt write' run write user gatt "$peripheral/public" write fff2 010203 --connect-timeout "$(units 40)s"
check 'gatt notify' run notify user gatt "$peripheral/public" notify fff3 --count 3 --timeout "$(units 40)s"
check 'the adapter has power again' wait_for 5 powered 1
check 'a recording of the user channel' user scan --count 1 --name Lab --timeout "$(units 40)s" --capture scan.btsnoop
check 'it has what came' grep -qa Lab scan.btsnoop

mgmt 1 power off >/dev/null
check 'an adapter that is off' run scan user scan --count 1 --name Lab --timeout "$(units 40)s"
check 'it is off again' not powered 1
mgmt 1 power on >/dev/null

background holder bletool scan --adapter user:hci1 --json
held() { bletool adapters --json >held.out && ndjson held.out "adapter == 'hci1' and owner == 'user-channel'"; }
check 'an adapter that is held is listed so' wait_for 10 held
check 'a second process learns which one has it: status 3' exits 3 bletool scan --adapter user:hci1 --timeout 2s
cp check.log held.log
check 'by name and number' grep -q "in use by .*bletool (process [0-9]*)" held.log
check 'it cannot be used through the kernel either: status 3' exits 3 bletool scan --adapter hci1 --timeout 2s
check 'one that is not there: status 3' exits 3 bletool scan --adapter user:hci7 --timeout 2s
check 'Ctrl-C ends the holder by that signal' ends holder 'signal INT' INT
check 'the adapter has power again' wait_for 5 powered 1

bluetoothd
check 'beside bluetoothd' run scan user scan --count 1 --name Lab --timeout "$(units 40)s"
check 'the adapter has power again' wait_for 5 powered 1

background scan bletool scan --adapter user:hci1 --json
check 'it receives' wait_for 15 ndjson scan.out "event == 'advertisement'"
unplugged=3
unplug scan
