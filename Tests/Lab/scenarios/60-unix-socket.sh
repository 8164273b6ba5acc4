# Controllers behind a Unix socket (H4), on the air of the kernel's adapters. btvirt creates one for each connection. Their
# feature bits show that they support only the legacy commands.
air -s
adapter 1 central
socket=unix:/tmp/bt-server-bredrle

background serve bletool serve "$here/serve.yaml" --adapter $socket --json
ready serve
peripheral=$(grep -o '"address":"[^"]*"' serve.out | head -1 | cut -d'"' -f4)
# As with `mgmt_finds`, a report that arrives too early is lost.
check 'hcitool shows the name' wait_for 20 output "$peripheral Lab" lescan

here_too() { bletool "$@" --adapter $socket --json; }
check 'scan succeeds' run scan here_too scan --count 1 --name Lab --timeout "$(units 40)s"
check 'the advertising is legacy advertising' ndjson scan.out "legacy and address == '$peripheral'"
check 'gatt read succeeds' run read here_too gatt name:Lab read fff1 --connect-timeout "$(units 40)s"
check 'gatt read returns the value' ndjson read.out "bytes.fromhex(value) == b'from bletool'"
check 'gatt notify succeeds' run notify here_too gatt name:Lab notify fff3 --count 3 --timeout "$(units 40)s"
check 'the end of the link is reported with its reason' wait_for 10 ndjson serve.out \
    "event == 'disconnected' and reason == 0x13"

check 'Ctrl-C ends serve by that signal' ends serve 'signal INT' INT
check 'the server is off the air: status 2' exits 2 here_too scan --count 1 --name Lab --timeout 3s
