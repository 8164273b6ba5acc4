# bluetoothd listens on the same channel. The newest listener receives the connections. `bletool serve` warns about it.
# limit: 120
two_adapters
bluetoothd_server
mgmt 0 rm-adv 1 >/dev/null
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
check 'the warning names bluetoothd' grep -q bluetoothd serve.err
check 'serve receives the connections' output '66 72 6f 6d 20 62 6c 65 74 6f 6f 6c' \
    timeout "$(units 15)" gatttool -i hci1 -b "$peripheral" --char-read -a 0x0022
check 'Ctrl-C ends serve by that signal' ends serve 'signal INT' INT
