# A scan on an adapter on which the kernel itself searches for a device, such as a bonded mouse, by a passive scan for that
# device only.
# limit: 120
two_adapters
record hci1
mgmt 1 add-device -t 1 -a 2 00:11:22:33:44:55 >add-device.log
advertise() { mgmt 0 add-adv -c -d "$(name_field "$1")" 1 >/dev/null; }
name_field() { printf '020106%02x09%s' $((${#1} + 1)) "$(printf %s "$1" | od -An -tx1 | tr -d ' \n')"; }
receives() { ndjson scan.out "event == 'advertisement' and name == '$1'"; }
sleep 1
background scan bletool scan --adapter hci1 --repeats all --json
sleep 1
advertise First
check 'the scan receives advertising that the kernel does not search for' wait_for 10 receives First
mgmt 0 rm-adv 1 >/dev/null
advertise Second
check 'the scan continues' wait_for 10 receives Second
check 'Ctrl-C ends scan by that signal' ends scan 'signal INT' INT
finish btmon INT >/dev/null
btmon -r session.btsnoop >session.log
check 'the kernel was scanning' grep -q 'Status: Command Disallowed' session.log
# The controllers of the lab do not filter, so only the commands show which scan runs.
scanning() {
    grep -A2 '^< HCI Command: .*(0x08|0x004[12]) plen' |
        grep -o 'Extended scan: [A-Za-z]*\|Filter policy: .*' | tr '\n' ' '
}
sed '/Status: Command Disallowed/q' session.log | scanning >before.log
check 'the scan of the kernel was for its device only' output \
    'Filter policy: Ignore not in accept list (0x01) Extended scan: Enabled' cat before.log
sed '1,/Status: Command Disallowed/d' session.log | scanning >after.log
check 'a scan without filter has replaced the scan of the kernel' output \
    '^Extended scan: Disabled Filter policy: Accept all advertisement (0x00) Extended scan: Enabled' cat after.log
