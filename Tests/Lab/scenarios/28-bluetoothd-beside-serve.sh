# bluetoothd that starts after `bletool serve` takes its centrals. serve reports that, and receives them after a restart.
# limit: 120
two_adapters
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
check 'serve receives the connections without bluetoothd' output '66 72 6f 6d 20 62 6c 65 74 6f 6f 6c' \
    timeout "$(units 15)" gatttool -i hci1 -b "$peripheral" --char-read -a 0x0022
wait_for 10 unlinked
bluetoothd_server
taken() { ndjson serve.out "event == 'health' and what == 'central-taken' and 'bluetoothd (process ' in message"; }
connects() { timeout "$(units 15)" gatttool -i hci1 -b "$peripheral" --primary; }
check 'a central connects to bluetoothd' output 'fff0' connects
check 'serve reports it in JSON' wait_for 10 taken
check 'serve reports it on standard error' grep -q 'bluetoothd.*restart this program' serve.err
check 'Ctrl-C ends serve by that signal' ends serve 'signal INT' INT
mgmt 0 rm-adv 1 >/dev/null
wait_for 10 unlinked
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
check 'serve receives the connections after a restart' output '66 72 6f 6d 20 62 6c 65 74 6f 6f 6c' \
    timeout "$(units 15)" gatttool -i hci1 -b "$peripheral" --char-read -a 0x0022
check 'Ctrl-C ends the restarted serve by that signal' ends serve 'signal INT' INT
