# A periodic train of a kernel adapter, checked with btmon. The controllers of BlueZ report no train to scanners, so no host
# can follow it.
two_adapters
record hci0

background train bletool advertise --adapter hci0 --name Train --periodic 100ms-200ms --periodic-service-data 181a:0102 \
    --sid 6 --json
ready train "advertising['periodic'] == {'data': '05161a180102', 'interval': '100ms-200ms'}"
received >received.log
check 'the announcement is on the air' grep -q 'name=Train' received.log
check 'Ctrl-C ends advertise by that signal' ends train 'signal INT' INT
received >received.log
check 'the announcement is off the air' not grep -q 'name=Train' received.log

finish btmon INT >/dev/null
btmon -r session.btsnoop >session.log
# sent OPCODE COUNT: prints a command with that number, and the COUNT lines after it.
sent() { grep -A"$2" "^< HCI Command: .*(0x08|$1) plen" session.log; }
check 'the set has the SID' output 'SID: 0x06' sent 0x0036 20
check 'the train has the minimum interval' output 'Min interval: 100.00 msec (0x0050)' sent 0x003e 3
check 'the train has the maximum interval' output 'Max interval: 200.00 msec (0x00a0)' sent 0x003e 3
check 'the train has the data' output 'Data length: 0x06' sent 0x003f 6
check 'the train begins before it is announced' eval "sent 0x0040 1 | grep -q 'advertising: Enabled (0x01)' &&
    [ \$(grep -n '(0x08|0x0040) plen' session.log | head -1 | cut -d: -f1) -lt \
    \$(grep -n 'Extended advertising: Enabled' session.log | head -1 | cut -d: -f1) ]"
check 'the train is disabled' output 'Periodic advertising: Disabled (0x00)' sent 0x0040 1
check 'the controller has refused no command' not grep -q 'Status: Command Disallowed' session.log
