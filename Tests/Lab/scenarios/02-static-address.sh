# An adapter that uses a random static address instead of its public one.
# limit: 120
air
adapter 1 central
for setting in 'power off' 'le on' 'bredr off' 'static-addr C0:11:22:33:44:55' 'connectable on' 'power on'; do
    # shellcheck disable=SC2086
    mgmt 0 $setting >/dev/null
done
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
check 'serve ends with status 4 without debugfs' ends serve 'exit 4'
check 'the message names the file' grep -q '/sys/kernel/debug/bluetooth/hci0/identity' serve.err
check 'the message names the command that makes the file readable' grep -q 'mount -t debugfs' serve.err

mount -t debugfs debugfs /sys/kernel/debug
check 'a scan succeeds with debugfs' bletool scan --adapter hci0 --duration 1s
background serve bletool serve "$here/serve.yaml" --adapter hci:C0:11:22:33:44:55 --json
ready serve "address == 'C0:11:22:33:44:55' and addressType == 'random'"
check 'a central connects to the server and reads' run read bletool gatt C0:11:22:33:44:55/random read fff1 --adapter hci1 \
    --json --connect-timeout "$(units 40)s"
check 'the read returns the value' ndjson read.out "bytes.fromhex(value) == b'from bletool'"
check 'Ctrl-C ends serve by that signal' ends serve 'signal INT' INT
umount /sys/kernel/debug
