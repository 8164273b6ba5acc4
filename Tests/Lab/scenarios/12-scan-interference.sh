# A scan while others use the same adapter: the kernel's discovery and its connections end it, and it goes on.
# limit: 120
two_adapters
background scan bletool scan --adapter hci1 --repeats all --json
hears() { ndjson scan.out "event == 'advertisement' and name == '$1'"; }
advertise() { mgmt 0 add-adv -c -d "$(name_field "$1")" 1 >/dev/null; }
name_field() { printf '020106%02x09%s' $((${#1} + 1)) "$(printf %s "$1" | od -An -tx1 | tr -d ' \n')"; }
sleep 1
advertise First
check 'it receives advertising' wait_for 10 hears First
mgmt 0 rm-adv 1 >/dev/null

mgmt 1 find -l >find.log
sleep 1
advertise Second
check 'it receives advertising after a discovery of the kernel' wait_for 10 hears Second

timeout "$(units 15)" gatttool -i hci1 -b "$peripheral" --primary >/dev/null 2>&1
mgmt 0 rm-adv 1 >/dev/null
wait_for 10 unlinked
sleep 1
advertise Third
check 'it receives advertising after a connection of the kernel' wait_for 10 hears Third
check 'Ctrl-C ends it by that signal' ends scan 'signal INT' INT
