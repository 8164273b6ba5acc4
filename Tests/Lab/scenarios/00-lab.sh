# The lab itself, with BlueZ's tools only: the functions that the other scenarios depend on.
two_adapters

mgmt 0 name Reference >/dev/null
check 'mgmt advertises on hci0' mgmt 0 add-adv -c -u 180d -n 1
check 'mgmt finds the advertiser from hci1' mgmt_finds "dev_found: $peripheral type LE Public"
check 'mgmt reads the name' grep -q '^name Reference' output.log
check "the lab's own scanner receives the advertiser" output "^$peripheral name=Reference" received
check 'hcitool shows the address' wait_for 12 output "$peripheral" lescan
mgmt 0 rm-adv 1 >/dev/null
check 'the scanner does not receive the advertiser afterwards' not_received "$peripheral"
