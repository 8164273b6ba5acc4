# Each step of Examples/tour between two kernel adapters. The kernel manages the links and the pairing.
# limit: 240
two_adapters
examples=$(dirname "$(realpath /usr/local/bin/bletool)")
[ -x "$examples/tour" ] || die "no examples beside bletool; build the whole package"

background visited "$examples/tour" hci0 peripheral
check 'the peripheral is on the air' wait_for 15 grep -q '^on air: ' visited.out
background visitor "$examples/tour" hci1 central /scratch/tour
check 'the tour ends' wait_for 150 test -s visitor.end
check 'the tour ends with status 0' ends visitor 'exit 0'
# The socket of a fast kernel is never full.
toured '(full, then ready|never full)'
check 'Ctrl-C ends the peripheral' ends visited 'signal INT' INT
