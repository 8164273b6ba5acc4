# An adapter that shows a random static address in place of its public one.
# limit: 120
air
adapter 1 central
for setting in 'power off' 'le on' 'bredr off' 'static-addr C0:11:22:33:44:55' 'connectable on' 'power on'; do
    # shellcheck disable=SC2086
    mgmt 0 $setting >/dev/null
done
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
check 'without debugfs it cannot be known' ends serve 'exit 4'
check 'the message names the file' grep -q '/sys/kernel/debug/bluetooth/hci0/identity' serve.err
check 'and what makes it readable' grep -q 'mount -t debugfs' serve.err

mount -t debugfs debugfs /sys/kernel/debug
check 'scanning is possible with it' bletool scan --adapter hci0 --duration 1s
background serve bletool serve "$here/serve.yaml" --adapter hci:C0:11:22:33:44:55 --json
ready serve "address == 'C0:11:22:33:44:55' and addressType == 'random'"
check 'a central connects to it and reads' run read bletool gatt C0:11:22:33:44:55/random read fff1 --adapter hci1 \
    --json --connect-timeout "$(units 40)s"
check 'its value' ndjson read.out "bytes.fromhex(value) == b'from bletool'"
check 'Ctrl-C ends it by that signal' ends serve 'signal INT' INT
umount /sys/kernel/debug
