# Each step of Examples/tour between two kernel adapters: the kernel has the links, and pairs.
# limit: 240
two_adapters
examples=$(dirname "$(realpath /usr/local/bin/bletool)")
[ -x "$examples/tour" ] || die "no examples beside bletool: build all of the package"

background visited "$examples/tour" hci0 peripheral
check 'the peripheral is on the air' wait_for 15 grep -q '^on air: ' visited.out
background visitor "$examples/tour" hci1 central /scratch/tour
check 'the tour comes to its end' wait_for 150 test -s visitor.end
check 'and to a good one' ends visitor 'exit 0'
for line in 'its identifier is lasting: true, public or static: true' 'events: connected, disconnected' \
    'a connect without limit: connecting, cancelled, disconnected' 'services: [180f, fff0]' \
    'descriptor of fff4: it is written reliably' 'heart rate: 72 a minute' 'battery: 80 %' 'greet: welcome' \
    'a flood came whole' 'slow: worth waiting for' 'left and right are written' 'guests after add: 1' \
    'guests after remove: 0' 'no alarm without pairing: true' 'alarm by notification: fire; the link is encrypted' \
    'alarm by indication: fire; the link is encrypted' 'chain: battery 80 % by scan, connect, read' 'each: [80] %' \
    'states: poweredOn, poweredOff; the adapter was closed'; do
    check "central: $line" grep -qxF "$line" visitor.out
done
for line in 'flood: full, then ready' 'slow: answered later' 'together: fff4 [1], fff5 [2]' 'add: a guest came' \
    'remove: the guest left' 'alarm: indications for a link that is encrypted'; do
    check "peripheral: $line" grep -qxF "$line" visited.out
done
check 'Ctrl-C ends the peripheral' ends visited 'signal INT' INT
