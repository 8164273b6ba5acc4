# A scan while others use the same adapter: the kernel's discovery, its connections and bluetoothd's scan end the scan, and
# bletool restarts it.
# limit: 240
two_adapters
background scan bletool scan --adapter hci1 --repeats all --json
receives() { ndjson scan.out "event == 'advertisement' and name == '$1'"; }
advertise() { mgmt 0 add-adv -c -d "$(name_field "$1")" 1 >/dev/null; }
name_field() { printf '020106%02x09%s' $((${#1} + 1)) "$(printf %s "$1" | od -An -tx1 | tr -d ' \n')"; }
sleep 1
advertise First
check 'the scan receives advertising' wait_for 10 receives First
mgmt 0 rm-adv 1 >/dev/null

mgmt 1 find -l >find.log
sleep 1
advertise Second
check 'the scan receives advertising after a discovery of the kernel' wait_for 10 receives Second

# No program has a server on hci0, so the link is established and gatttool receives no response.
background attempt timeout "$(units 15)" gatttool -i hci1 -b "$peripheral" --primary
check 'the kernel connects beside the scan' wait_for 15 output "LE $peripheral .*state 1 " hcitool -i hci1 con
finish attempt TERM >/dev/null
mgmt 0 rm-adv 1 >/dev/null
wait_for 10 unlinked
sleep 1
advertise Third
check 'the scan receives advertising after a connection of the kernel' wait_for 10 receives Third
mgmt 0 rm-adv 1 >/dev/null

bluetoothd
bluetoothctl
check 'bluetoothctl has the adapter' prints 10 "$central" "select $central"
check 'bluetoothd scans beside the scan' prints 10 'Discovery started' 'scan on'
advertise Fourth
check 'the scan receives advertising beside a scan of bluetoothd' wait_for 10 receives Fourth
check 'bluetoothd receives advertising' wait_for 30 grep -q "Device $peripheral" bluetoothctl.out
mgmt 0 rm-adv 1 >/dev/null
check 'bluetoothd stops its scan' prints 10 'Discovery stopped' 'scan off'
sleep 1
advertise Fifth
check 'the scan receives advertising after that scan' wait_for 10 receives Fifth
check 'Ctrl-C ends scan by that signal' ends scan 'signal INT' INT
