# An adapter whose driver cannot set it up, as one without its firmware: here the controller does not answer Reset.
# limit: 150
mount -t debugfs debugfs /sys/kernel/debug
background air bletool air --listen unix:/scratch/air --json
ready air
echo 0x0c03 >/scratch/deaf
background kernel "$here/kernel-host" /scratch/air /scratch/deaf
wait_for 10 grep -q hci0 kernel.out || die 'no adapter'
# The kernel waits ten seconds for the answer, and then leaves the adapter as it is.
set_up_fails() { dmesg | grep -q 'hci0: .*\(0x0c03\|c03\).*\(timeout\|failed\)'; }
check 'the kernel gives up' wait_for 30 set_up_fails

check 'adapters lists it' run adapters bletool adapters --json
check 'and why it cannot be used' ndjson adapters.out "event == 'adapter' and adapter == 'hci0' and state == 'not-set-up'"
for adapter in hci0 user:hci0; do
    check "a scan on $adapter is refused: status 3" exits 3 bletool scan --adapter $adapter --timeout "$(units 20)s"
    cp check.log "${adapter/:/-}.log"
    check 'it says that the driver has not set it up' grep -q 'driver' "${adapter/:/-}.log"
    check 'and where to look' grep -q 'firmware' "${adapter/:/-}.log"
done
bletool doctor --json >doctor.out 2>doctor.err
check 'doctor names it, and firmware as the usual cause' ndjson doctor.out "event == 'doctor' and any(
    c['check'] == 'adapter' and c['subject'] == 'hci0' and c['status'] != 'ok' and 'firmware' in (c['fix'] or '')
    for c in checks)"
finish kernel TERM >/dev/null
rm /scratch/deaf
finish air TERM >/dev/null
umount /sys/kernel/debug
