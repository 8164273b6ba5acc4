# A kernel adapter whose controller stops answering: the restart of activities, the power cycle, and the end. A controller
# that reports a hardware error, which the kernel resets by itself.
# limit: 180
mount -t debugfs debugfs /sys/kernel/debug
background air bletool air --listen unix:/scratch/air --json
ready air
background kernel "$here/kernel-host" /scratch/air /scratch/faults
wait_for 10 grep -q hci0 kernel.out || die 'no adapter'
wait_for 10 output 'with 1 item' btmgmt info || die 'the kernel does not set it up'
for setting in 'static-addr C0:00:00:00:00:01' 'le on' 'power on'; do
    # shellcheck disable=SC2086
    mgmt 0 $setting >/dev/null
done
background lamp bletool advertise --name Lamp --adapter unix:/scratch/air --json
ready lamp

reported() { ndjson scan.out "event == 'health' and what == '$1' and $2"; }
receives() { ndjson scan.out "event == 'advertisement' and name == 'Lamp'"; }
goes_on() { tail -n 1 scan.out | grep -q '"event":"advertisement"'; }
enable=0x2042 # LE Set Extended Scan Enable

background beacon bletool advertise --name Beacon --adapter hci0 --json
ready beacon
on_air() { bletool scan --adapter unix:/scratch/air --name Beacon --count 1 --timeout 5s; }
check 'an advertisement is on air' on_air

echo $enable until-reset >/scratch/faults
background scan bletool scan --adapter hci0 --repeats all --json
check 'a silent controller is reported' wait_for 15 reported recovering "fault == 'silence' and step == 'reset'"
check 'the power of the adapter is cycled' wait_for 30 reported recovering "step == 'power-cycle'"
check 'the controller recovers' wait_for 20 reported recovered "step == 'power-cycle'"
check 'the scan continues' wait_for 10 receives
check 'the advertisement of another process ends with status 3' ends beacon 'exit 3'
check 'the other process prints the reason' grep -q 'powered off' beacon.err
check 'Ctrl-C ends scan by that signal' ends scan 'signal INT' INT

background scan bletool scan --adapter hci0 --repeats all --json
check 'a new scan receives advertising' wait_for 15 receives
kill -USR1 "$(cat kernel.pid)"
check 'a hardware error is reported' wait_for 10 reported recovering "fault == 'hardware-error' and code == 42"
check 'the scan continues after the hardware error' wait_for 20 goes_on
check 'Ctrl-C ends the new scan by that signal' ends scan 'signal INT' INT

echo $enable >/scratch/faults
background scan bletool scan --adapter hci0 --json
check 'the recovery of a controller that stays silent ends' wait_for 60 reported gave-up "fault == 'silence'"
check 'the scan ends with status 3' ends scan 'exit 3'
check 'the error contains the reason' ndjson scan.out "event == 'error' and 'recovery failed' in message"
rm /scratch/faults
check 'a later scan on the adapter succeeds' run again bletool scan --adapter hci0 --name Lamp --count 1 --timeout "$(units 40)s"
check 'Ctrl-C ends the lamp' ends lamp 'signal INT' INT
finish kernel TERM >/dev/null
umount /sys/kernel/debug
