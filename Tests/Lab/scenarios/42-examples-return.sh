# Programs of Examples that restore their state: a gateway, a peripheral and a central that are killed, and a beacon whose
# adapter is switched off and on.
# limit: 300
two_adapters
examples=$(dirname "$(realpath /usr/local/bin/bletool)")
[ -x "$examples/gateway" ] || die "no examples beside bletool; build the whole package"

background thermometer "$examples/thermometer" hci0 Ward
check 'the thermometer is on the air' wait_for 15 mgmt_finds "$peripheral"
gateway() { background gateway "$examples/gateway" hci1 1 /scratch/state; }
gateway
check 'the gateway prints temperatures' wait_for 40 at_least 3 celsius gateway.out
check 'the gateway did not know the thermometer' not grep -q 'is known' gateway.out
for life in second third; do
    check 'SIGKILL ends the gateway' ends gateway 'signal KILL' KILL
    # The kernel's link ends two seconds later.
    wait_for 10 unlinked
    gateway
    check "the $life run knows the thermometer" wait_for 15 grep -q "^$peripheral.* is known" gateway.out
    check "the $life run prints temperatures" wait_for 60 at_least 3 celsius gateway.out
done
check 'Ctrl-C ends the gateway' ends gateway 'signal INT' INT
check 'Ctrl-C ends the thermometer' ends thermometer 'signal INT' INT
wait_for 10 unlinked

returning() { background returning "$examples/tour" hci0 returning /scratch/returning; }
setting() { bletool gatt name:Returning "$1" fff9 "${@:2}" --adapter hci1; }
returning
check 'the restoring peripheral is on the air' wait_for 15 grep -q '^came back: 0 on air, setting $' returning.out
check 'a central writes to the peripheral' setting write 6b657074
check 'the peripheral has the value' wait_for 15 grep -q '^setting kept$' returning.out
check 'SIGKILL ends the peripheral' ends returning 'signal KILL' KILL
wait_for 10 unlinked
returning
check 'the next run has the value and the advertisement' wait_for 15 grep -q '^came back: 1 on air, setting kept$' returning.out
check 'a central reads the value' output kept setting read
check 'SIGKILL ends the peripheral again' ends returning 'signal KILL' KILL
wait_for 10 unlinked

background visited "$examples/tour" hci0 peripheral
check 'a peripheral is on the air' wait_for 15 grep -q '^on air: ' visited.out
for scans in 0 2 1; do
    background listener "$examples/tour" hci1 listening /scratch/listening
    check "a central restores $scans scans" wait_for 15 grep -q "^came back: $scans scans, 0 devices$" listener.out
    check 'the central receives advertising' wait_for 15 grep -q '^receives Grand tour$' listener.out
    check 'SIGKILL ends the central' ends listener 'signal KILL' KILL
done
check 'Ctrl-C ends the peripheral' ends visited 'signal INT' INT
# The last central was killed, so the controller still scans.
mgmt 1 power off >/dev/null
mgmt 1 power on >/dev/null

background beacon "$examples/beacon" hci0
check 'the beacon is on the air' wait_for 15 grep -q '^on air as ' beacon.out
check 'the scanner receives the beacon' wait_for 15 output 4c000215f7826da6 received
mgmt 0 power off >/dev/null
check 'the beacon reports that its adapter is off' wait_for 15 grep -q 'the adapter is off: waiting' beacon.err
check 'the beacon uses almost no processor time meanwhile' idle beacon
check 'the beacon leaves the adapter off' not output 'current settings:.* powered' mgmt 0 info
mgmt 0 power on >/dev/null
check 'the beacon is on the air again' wait_for 15 at_least 2 '^on air as ' beacon.out
check 'the scanner receives the beacon again' wait_for 15 output 4c000215f7826da6 received
check 'Ctrl-C ends the beacon by that signal' ends beacon 'signal INT' INT
check 'the beacon is off the air' not_received 4c000215f7826da6
