# `user:` as central of a server on a kernel adapter. Errors of other programs name the process that holds an adapter.
# limit: 180
two_adapters
powered() { mgmt "$1" info | grep 'current settings' | grep -q powered; }

background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
user() { bletool "$@" --adapter user:hci1 --json; }
check 'scan succeeds' run scan user scan --count 1 --name Lab --timeout "$(units 40)s"
check 'gatt read succeeds' run read user gatt "$peripheral/public" read fff1 --connect-timeout "$(units 40)s"
check 'gatt read returns the value' ndjson read.out "bytes.fromhex(value) == b'from bletool'"
check 'gatt write succeeds' run write user gatt "$peripheral/public" write fff2 010203 --connect-timeout "$(units 40)s"
check 'gatt notify succeeds' run notify user gatt "$peripheral/public" notify fff3 --count 3 --timeout "$(units 40)s"
check 'the adapter is powered on again' wait_for 5 powered 1
check 'a scan with a recording of the user channel succeeds' user scan --count 1 --name Lab --timeout "$(units 40)s" --capture scan.btsnoop
check 'the recording contains the received advertisement' grep -qa Lab scan.btsnoop

mgmt 1 power off >/dev/null
check 'a scan on an adapter that is off succeeds' run scan user scan --count 1 --name Lab --timeout "$(units 40)s"
check 'the adapter is off again' not powered 1
mgmt 1 power on >/dev/null

background holder bletool scan --adapter user:hci1 --json
held() { bletool adapters --json >held.out && ndjson held.out "adapter == 'hci1' and owner == 'user-channel'"; }
check 'adapters lists the owner of the adapter' wait_for 10 held
check 'a second process is refused: status 3' exits 3 bletool scan --adapter user:hci1 --timeout 2s
cp check.log held.log
check 'the message names the first process and its number' grep -q "in use by .*bletool (process [0-9]*)" held.log
check 'the adapter cannot be used through the kernel either: status 3' exits 3 bletool scan --adapter hci1 --timeout 2s
check 'an absent adapter: status 3' exits 3 bletool scan --adapter user:hci7 --timeout 2s
check 'Ctrl-C ends the holder by that signal' ends holder 'signal INT' INT
check 'the adapter is powered on after the holder' wait_for 5 powered 1

bluetoothd
check 'a scan beside bluetoothd succeeds' run scan user scan --count 1 --name Lab --timeout "$(units 40)s"
check 'the adapter is powered on after that scan' wait_for 5 powered 1

background scan bletool scan --adapter user:hci1 --json
check 'the scan receives advertising' wait_for 15 ndjson scan.out "event == 'advertisement'"
unplugged=3
unplug scan
