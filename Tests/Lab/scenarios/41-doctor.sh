# `bletool doctor` reports what is missing: as root, as the user nobody, with capabilities, without adapters, behind rfkill and
# in a namespace of its own.
# limit: 120
cp /usr/local/bin/bletool /scratch/bletool
nobody() { HOME=/scratch setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"; }
allowed() { HOME=/scratch setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$1" --ambient-caps="$1" "${@:2}"; }
# doctor STATUS CONDITION COMMAND…: its exit status, and what its object says.
doctor() { "${@:3}" >doctor.out 2>doctor.err; [ $? = "$1" ] && ndjson doctor.out "event == 'doctor' and ($2)"; }

check 'without adapters: status 3' doctor 3 "not ok and not may['scan'] and may['virtual']
    and missing['scan'] == ['adapter']" bletool doctor --json
two_adapters
check 'root may all: status 0' doctor 0 "ok and all(may.values()) and missing == {}
    and [c['subject'] for c in checks if c['check'] == 'adapter' and c['status'] == 'ok'] == ['hci0', 'hci1']" \
    bletool doctor --json
check 'for people, too' output 'ok  *adapter hci0' bletool doctor
check 'the user nobody lacks capabilities: status 4' doctor 4 "not ok and missing['scan'] == ['CAP_NET_RAW']
    and missing['user'] == ['CAP_NET_ADMIN']
    and any('setcap' in (c['fix'] or '') for c in checks if c['check'] == 'capabilities')" \
    nobody /scratch/bletool doctor --json
check 'it is an error in JSON, too' ndjson doctor.out "event == 'error' and kind == 'permission' and code == 4"
check 'with both: status 0' doctor 0 "ok and all(may.values())" \
    allowed +net_raw,+net_admin /scratch/bletool doctor --json
check 'with one of them: status 4' doctor 4 "may['scan'] and missing['power'] == ['CAP_NET_ADMIN']" \
    allowed +net_raw /scratch/bletool doctor --json
check 'user: without the capability: status 4' exits 4 \
    allowed +net_raw /scratch/bletool scan --adapter user:hci0 --timeout 2s
cp check.log user.log
check 'it names the capability and the command' grep -q 'CAP_NET_ADMIN' user.log
check 'and the command that gives it' grep -q 'setcap' user.log

chmod 600 /dev/ttyS1
check "a serial port of another's: status 4" exits 4 \
    nobody /scratch/bletool scan --adapter serial:/dev/ttyS1 --timeout 2s
cp check.log serial.log
check 'it names the command that mends it' grep -q 'usermod -aG' serial.log

check 'another network namespace: status 3' doctor 3 "any('namespace' in c['message'] for c in checks)" \
    unshare -n /usr/local/bin/bletool doctor --json
check 'a scan there says so' output 'network namespace' unshare -n /usr/local/bin/bletool scan --timeout 2s

for radio in /sys/class/rfkill/*; do echo 1 >"$radio/soft"; done
check 'rfkill: status 3' doctor 3 "any(c['check'] == 'rfkill' and c['fix'] == 'rfkill unblock bluetooth' for c in checks)" \
    bletool doctor --json
check 'a scan says so: status 3' exits 3 bletool scan --adapter hci0 --timeout 2s
cp check.log rfkill.log
check 'and how to mend it' grep -q 'rfkill unblock' rfkill.log
check 'so does the user channel: status 3' exits 3 bletool scan --adapter user:hci0 --timeout 2s
cp check.log rfkill.log
check 'and how to mend it' grep -q 'rfkill unblock' rfkill.log
for radio in /sys/class/rfkill/*; do echo 0 >"$radio/soft"; done

bluetoothd
check 'bluetoothd is worth a note' doctor 0 "any(c['check'] == 'bluetoothd' and c['status'] == 'note' for c in checks)" \
    bletool doctor --json
