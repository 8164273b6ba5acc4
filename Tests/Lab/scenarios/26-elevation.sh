# A value that requires encryption. The server refuses the read, `bletool gatt` requests more security from the kernel and
# reads again. The kernel pairs, and bluetoothd asks bluetoothctl whether the numbers match.
# limit: 150
two_adapters
bluetoothd
bluetoothctl
check 'an agent is registered' wait_for 10 grep -q 'Agent registered' bluetoothctl.out
background serve bletool serve "$here/secret.yaml" --adapter hci0 --json
ready serve
gatt() { bletool gatt "$peripheral/public" "$@" --adapter hci1 --json --connect-timeout "$(units 40)s"; }
check 'the value without protection is read' output '"value":"6e6f20736563726574"' gatt read fff2
wait_for 10 unlinked
check 'pair beside bluetoothd is refused: status 3' exits 3 run refused bletool pair "$peripheral/public" \
    --adapter hci1 --state-dir /scratch/central
check 'the message names bluetoothctl' grep -q bluetoothctl refused.err

background reader bletool gatt "$peripheral/public" read fff1 --adapter hci1 --json --connect-timeout "$(units 40)s" --timeout "$(units 40)s"
# Both sides ask the user. An answer without a question is an unknown command for bluetoothctl.
answered() { bluez yes; wait_for 1 test -s reader.out; }
wait_for 60 answered
# bluetoothd is killed before the link ends. It has a socket on the link that received nothing, and the kernel would crash
# at the end of that socket.
finish bluetoothd KILL >/dev/null
check 'the kernel has paired' grep -q 'Bonded: yes' bluetoothctl.out
check 'the reader has the value' output '"value":"6120736563726574"' cat reader.out
check 'the reader ends with status 0' ends reader 'exit 0'
check 'Ctrl-C ends serve by that signal' ends serve 'signal INT' INT
