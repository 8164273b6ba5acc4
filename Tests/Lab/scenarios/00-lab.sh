# The lab itself, with BlueZ's tools alone: what the other scenarios take for granted.
two_adapters

mgmt 0 name Reference >/dev/null
check 'mgmt advertises on hci0' mgmt 0 add-adv -c -u 180d -n 1
check 'mgmt finds it from hci1' mgmt_finds "dev_found: $peripheral type LE Public"
check 'mgmt reads its name' grep -q '^name Reference' output.log
check "the lab's own scanner receives it" output "^$peripheral name=Reference" received
check 'hcitool shows its address' wait_for 12 output "$peripheral" lescan
mgmt 0 rm-adv 1 >/dev/null
check 'and no scanner receives it afterwards' not_received "$peripheral"
