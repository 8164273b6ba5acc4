# A kernel adapter whose controller stops to answer: what is begun anew, the power cycle, the end; and one that reports
# a hardware error, which the kernel resets by itself.
# limit: 180
mount -t debugfs debugfs /sys/kernel/debug
background air bletool air --listen unix:/scratch/air --json
ready air
background kernel "$here/kernel-host" /scratch/air /scratch/deaf
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

echo $enable until-reset >/scratch/deaf
background scan bletool scan --adapter hci0 --repeats all --json
check 'a silent controller is reported' wait_for 15 reported recovering "fault == 'silence' and step == 'reset'"
check 'its power is cycled' wait_for 30 reported recovering "step == 'power-cycle'"
check 'it is back' wait_for 20 reported recovered "step == 'power-cycle'"
check 'the scan goes on' wait_for 10 receives
check 'another process is not left to believe that it advertises' ends beacon 'exit 3'
check 'and says why' grep -q 'powered off' beacon.err
check 'Ctrl-C ends it by that signal' ends scan 'signal INT' INT

background scan bletool scan --adapter hci0 --repeats all --json
check 'a new scan receives advertising' wait_for 15 receives
kill -USR1 "$(cat kernel.pid)"
check 'a hardware error is reported' wait_for 10 reported recovering "fault == 'hardware-error' and code == 42"
check 'the scan goes on after it' wait_for 20 goes_on
check 'Ctrl-C ends it by that signal' ends scan 'signal INT' INT

echo $enable >/scratch/deaf
background scan bletool scan --adapter hci0 --json
check 'a controller that stays silent is given up' wait_for 60 reported gave-up "fault == 'silence'"
check 'the scan ends with status 3' ends scan 'exit 3'
check 'and says why' ndjson scan.out "event == 'error' and 'recovery failed' in message"
rm /scratch/deaf
check 'the adapter is not the worse for it' run again bletool scan --adapter hci0 --name Lamp --count 1 --timeout "$(units 40)s"
check 'Ctrl-C ends the lamp' ends lamp 'signal INT' INT
finish kernel TERM >/dev/null
umount /sys/kernel/debug
