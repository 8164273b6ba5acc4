# The programs of Examples on `user:` adapters: a gateway that is killed and restores its state, and each step of the tour.
# limit: 300
two_adapters
examples=$(dirname "$(realpath /usr/local/bin/bletool)")
[ -x "$examples/tour" ] || die "no examples beside bletool; build the whole package"

background thermometer "$examples/thermometer" user:hci0 Ward
check 'the thermometer is on the air' wait_for 15 mgmt_finds "$peripheral"
gateway() { background gateway "$examples/gateway" user:hci1 1 /scratch/state; }
gateway
check 'the gateway prints temperatures' wait_for 40 at_least 3 celsius gateway.out
check 'SIGKILL ends the gateway' ends gateway 'signal KILL' KILL
gateway
check 'the second run knows the thermometer' wait_for 15 grep -q "^$peripheral.* is known" gateway.out
check 'the second run prints temperatures' wait_for 60 at_least 3 celsius gateway.out
check 'Ctrl-C ends the gateway' ends gateway 'signal INT' INT
check 'Ctrl-C ends the thermometer' ends thermometer 'signal INT' INT

background visited "$examples/tour" user:hci0 peripheral
check 'the peripheral is on the air' wait_for 15 grep -q '^on air: ' visited.out
background visitor "$examples/tour" user:hci1 central /scratch/tour
check 'the tour ends' wait_for 150 test -s visitor.end
check 'the tour ends with status 0' ends visitor 'exit 0'
toured 'full, then ready'
check 'Ctrl-C ends the peripheral' ends visited 'signal INT' INT
