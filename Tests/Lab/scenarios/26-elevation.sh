# A value that requires encryption: the server refuses, `bletool gatt` asks the kernel for more security and reads once
# more. The kernel pairs; bluetoothd asks bluetoothctl whether the numbers agree.
# limit: 150
two_adapters
bluetoothd
bluetoothctl
check 'an agent answers' wait_for 10 grep -q 'Agent registered' bluetoothctl.out
background serve bletool serve "$here/secret.yaml" --adapter hci0 --json
ready serve
gatt() { bletool gatt "$peripheral/public" "$@" --adapter hci1 --json --connect-timeout "$(units 40)s"; }
check 'what is open is read' output '"value":"6e6f20736563726574"' gatt read fff2
wait_for 10 unlinked
check 'who would manage pairing beside bluetoothd is refused' exits 3 run refused bletool pair "$peripheral/public" \
    --adapter hci1 --state-dir /scratch/central
check 'and shown bluetoothctl' grep -q bluetoothctl refused.err

background reader bletool gatt "$peripheral/public" read fff1 --adapter hci1 --json --connect-timeout "$(units 40)s" --timeout "$(units 40)s"
# Both sides ask. bluetoothctl takes an answer without a question for an unknown command.
answered() { bluez yes; wait_for 1 test -s reader.out; }
wait_for 60 answered
# Before the link ends: bluetoothd has a socket on it that received nothing, whose end would be the kernel's.
finish bluetoothd KILL >/dev/null
check 'the kernel was asked to pair' grep -q 'Bonded: yes' bluetoothctl.out
check 'and the reader has the value' output '"value":"6120736563726574"' cat reader.out
check 'it ends well' ends reader 'exit 0'
check 'Ctrl-C ends it by that signal' ends serve 'signal INT' INT
