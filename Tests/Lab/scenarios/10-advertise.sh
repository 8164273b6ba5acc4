# BlueZ receives the advertisement of `bletool advertise` on a kernel adapter. Ctrl-C removes only this advertisement.
# limit: 120
two_adapters
mgmt 0 add-adv -u 180f 2 >/dev/null # of another program

background advertise bletool advertise --adapter hci0 --name Labtest --service 180d --manufacturer 0xffff:0102 --json
ready advertise "address == '$peripheral' and addressType == 'public'"

check 'mgmt finds the name' mgmt_finds '^name Labtest'
# The data contain the flags, one service, two octets of manufacturer data, and the name, in any order.
received >received.log
check 'the service is on the air' grep -q "^$peripheral .*data=.*03030d18" received.log
check 'the manufacturer data is on the air' grep -q "^$peripheral .*data=.*05ffffff0102" received.log
check 'hcitool shows the address' wait_for 12 output "$peripheral" lescan
check 'advertise uses almost no processor time' idle advertise

check 'Ctrl-C ends advertise by that signal' ends advertise 'signal INT' INT
received >received.log
check 'the advertisement is off the air' not grep -q 'name=Labtest\|03030d18' received.log
check 'the advertisement of another program remains' grep -q '03030f18' received.log
