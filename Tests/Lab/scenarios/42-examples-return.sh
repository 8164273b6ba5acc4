# Programs of Examples that come back: a gateway, a peripheral and a central that are killed, and a beacon whose adapter is
# switched off and on.
# limit: 300
two_adapters
examples=$(dirname "$(realpath /usr/local/bin/bletool)")
[ -x "$examples/gateway" ] || die "no examples beside bletool: build all of the package"

background thermometer "$examples/thermometer" hci0 Ward
check 'the thermometer is on the air' wait_for 15 mgmt_finds "$peripheral"
gateway() { background gateway "$examples/gateway" hci1 1 /scratch/state; }
gateway
check 'the gateway follows it' wait_for 40 at_least 3 celsius gateway.out
check 'it was not known before' not grep -q 'is known' gateway.out
for life in second third; do
    check 'SIGKILL ends the gateway' ends gateway 'signal KILL' KILL
    # The kernel's link ends two seconds later.
    wait_for 10 unlinked
    gateway
    check "its $life life knows the thermometer" wait_for 15 grep -q "^$peripheral.* is known" gateway.out
    check 'and follows it' wait_for 60 at_least 3 celsius gateway.out
done
check 'Ctrl-C ends the gateway' ends gateway 'signal INT' INT
check 'Ctrl-C ends the thermometer' ends thermometer 'signal INT' INT
wait_for 10 unlinked

returning() { background returning "$examples/tour" hci0 returning /scratch/returning; }
setting() { bletool gatt name:Returning "$1" fff9 "${@:2}" --adapter hci1; }
returning
check 'a peripheral that comes back is on the air' wait_for 15 grep -q '^came back: 0 on air, setting $' returning.out
check 'a central writes to it' setting write 6b657074
check 'it has the value' wait_for 15 grep -q '^setting kept$' returning.out
check 'SIGKILL ends it' ends returning 'signal KILL' KILL
wait_for 10 unlinked
returning
check 'its next life has value and advertisement' wait_for 15 grep -q '^came back: 1 on air, setting kept$' returning.out
check 'and serves it' output kept setting read
check 'SIGKILL ends it again' ends returning 'signal KILL' KILL
wait_for 10 unlinked

background visited "$examples/tour" hci0 peripheral
check 'a peripheral is on the air' wait_for 15 grep -q '^on air: ' visited.out
for scans in 0 2 1; do
    background listener "$examples/tour" hci1 listening /scratch/listening
    check "a central comes back with $scans scans" wait_for 15 grep -q "^came back: $scans scans, 0 devices$" listener.out
    check 'which receive' wait_for 15 grep -q '^receives Grand tour$' listener.out
    check 'SIGKILL ends it' ends listener 'signal KILL' KILL
done
check 'Ctrl-C ends the peripheral' ends visited 'signal INT' INT
# The last one that was killed has left the controller scanning.
mgmt 1 power off >/dev/null
mgmt 1 power on >/dev/null

background beacon "$examples/beacon" hci0
check 'the beacon is on the air' wait_for 15 grep -q '^on air as ' beacon.out
check 'and received' wait_for 15 output 4c000215f7826da6 received
mgmt 0 power off >/dev/null
check 'it reports that its adapter is off' wait_for 15 grep -q '^the adapter is off' beacon.out
check 'it sleeps meanwhile' idle beacon
check 'and leaves it off' not output 'current settings:.* powered' mgmt 0 info
mgmt 0 power on >/dev/null
check 'it is on the air again' wait_for 15 at_least 2 '^on air as ' beacon.out
check 'and received' wait_for 15 output 4c000215f7826da6 received
check 'Ctrl-C ends it by that signal' ends beacon 'signal INT' INT
check 'it is off the air' not_received 4c000215f7826da6
