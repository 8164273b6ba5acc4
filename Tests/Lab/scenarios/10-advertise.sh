# BlueZ receives what `bletool advertise` sends on a kernel adapter, and Ctrl-C undoes it and nothing else.
# limit: 120
two_adapters
mgmt 0 add-adv -u 180f 2 >/dev/null # another program's

background advertise bletool advertise --adapter hci0 --name Labtest --service 180d --manufacturer 0xffff:0102 --json
ready advertise "address == '$peripheral' and addressType == 'public'"

check 'mgmt finds the name' mgmt_finds '^name Labtest'
# Flags, the one service, the manufacturer's two octets, the name: in this or another order.
received >received.log
check 'the service is on the air' grep -q "^$peripheral .*data=.*03030d18" received.log
check 'the manufacturer data is on the air' grep -q "^$peripheral .*data=.*05ffffff0102" received.log
check 'hcitool shows its address' wait_for 12 output "$peripheral" lescan
check 'it costs next to nothing' idle advertise

check 'Ctrl-C ends it by that signal' ends advertise 'signal INT' INT
received >received.log
check 'it is off the air' not grep -q 'name=Labtest\|03030d18' received.log
check 'what others advertise stays' grep -q '03030f18' received.log
