# Several advertisements of a kernel adapter at once, of one process and of two, checked with btmon.
# limit: 90
two_adapters
record hci0

background pair bletool advertise --adapter hci0 --name Pair --and --type nonconnectable --manufacturer 0xffff:0102 \
    --json
ready pair 'len(beside) == 1'
background third bletool advertise --adapter hci0 --type nonconnectable --manufacturer 0xffff:0304 --json
ready third 'len(beside) == 0'
received >received.log
check 'the first advertisement is on the air' grep -q 'name=Pair' received.log
check 'the beacon beside it is on the air' grep -q '05ffffff0102' received.log
check 'the advertisement of the other process is on the air' grep -q '05ffffff0304' received.log

check 'Ctrl-C ends the first process' ends pair 'signal INT' INT
received >received.log
check 'the advertisements of the first process are off the air' not grep -q 'name=Pair\|05ffffff0102' received.log
check 'the advertisement of the other process remains' grep -q '05ffffff0304' received.log
background fourth bletool advertise --adapter hci0 --type nonconnectable --manufacturer 0xffff:0506 --json
ready fourth
check 'Ctrl-C ends the other process' ends third 'signal INT' INT
received >received.log
check 'a new advertisement is on the air' grep -q '05ffffff0506' received.log
finish fourth TERM >/dev/null

finish btmon INT >/dev/null
btmon -r session.btsnoop >session.log
# The handles in the order of the commands that create sets.
grep -A1 '^< HCI Command: .*(0x08|0x0036)' session.log | grep -o 'Handle: 0x..' | tr '\n' ' ' >sets.log
check 'the fourth set reuses the handle of the first' grep -q '^Handle: 0xef Handle: 0xee Handle: 0xed Handle: 0xef $' sets.log
check 'no command was refused' not grep -q 'Status: Command Disallowed' session.log
