# The kernel ends a link two seconds after its last user. A connect at that time waits for the end, which takes long here.
# limit: 90
mount -t debugfs debugfs /sys/kernel/debug
background air bletool air --listen unix:/scratch/air --json
ready air
background serve bletool serve "$here/serve.yaml" --adapter unix:/scratch/air --json
ready serve
served=$(grep -o '"address":"[^"]*"' serve.out | head -1 | cut -d'"' -f4)
background kernel "$here/kernel-host" /scratch/air /scratch/faults
wait_for 10 grep -q hci0 kernel.out || die 'no adapter'
wait_for 10 output 'with 1 item' btmgmt info || die 'the kernel does not set it up'
for setting in 'static-addr C0:00:00:00:00:01' 'le on' 'power on'; do
    # shellcheck disable=SC2086
    mgmt 0 $setting >/dev/null
done
record hci0

gatt() { bletool gatt "$served/random" "$@" --adapter hci0 --json --connect-timeout "$(units 20)s"; }

echo late-end >/scratch/faults
check 'a first read succeeds' run first gatt read fff1
ending() { btmon -r session.btsnoop | grep -q 'Disconnect (0x01|0x0006)'; }
check 'the kernel begins to end the link' wait_for 15 ending
check 'a read at that moment succeeds' run second gatt read fff1 --log-level info
check 'the read returns the value' ndjson second.out "bytes.fromhex(value) == b'from bletool'"
check 'the read needed another attempt' grep -q 'was not established' second.err
check 'Ctrl-C ends the server' ends serve 'signal INT' INT
finish btmon INT >/dev/null
finish kernel TERM >/dev/null
umount /sys/kernel/debug
