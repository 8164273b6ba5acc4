# An adapter that its driver cannot set up, for example without firmware. Here, the controller does not answer Reset.
# limit: 150
mount -t debugfs debugfs /sys/kernel/debug
background air bletool air --listen unix:/scratch/air --json
ready air
echo 0x0c03 >/scratch/faults
background kernel "$here/kernel-host" /scratch/air /scratch/faults
wait_for 10 grep -q hci0 kernel.out || die 'no adapter'
# The kernel waits ten seconds for the answer, and then does not set up the adapter.
set_up_fails() { dmesg | grep -q 'hci0: .*\(0x0c03\|c03\).*\(timeout\|failed\)'; }
check 'the kernel does not set up the adapter' wait_for 30 set_up_fails

check 'adapters succeeds' run adapters bletool adapters --json
check 'adapters lists the adapter as not set up' ndjson adapters.out "event == 'adapter' and adapter == 'hci0' and state == 'not-set-up'"
for adapter in hci0 user:hci0; do
    check "a scan on $adapter is refused: status 3" exits 3 bletool scan --adapter $adapter --timeout "$(units 20)s"
    cp check.log "${adapter/:/-}.log"
    check 'the message names the driver' grep -q 'driver' "${adapter/:/-}.log"
    check 'the message names firmware' grep -q 'firmware' "${adapter/:/-}.log"
done
bletool doctor --json >doctor.out 2>doctor.err
check 'doctor names the adapter, and firmware as the usual cause' ndjson doctor.out "event == 'doctor' and any(
    c['check'] == 'adapter' and c['subject'] == 'hci0' and c['status'] != 'ok' and 'firmware' in (c['fix'] or '')
    for c in checks)"
finish kernel TERM >/dev/null
rm /scratch/faults
finish air TERM >/dev/null
umount /sys/kernel/debug
