# `bletool doctor` reports missing prerequisites: as root, as the user nobody, with capabilities, without adapters, with an
# rfkill block and in a separate network namespace.
# limit: 120
cp /usr/local/bin/bletool /scratch/bletool
nobody() { HOME=/scratch setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"; }
allowed() { HOME=/scratch setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$1" --ambient-caps="$1" "${@:2}"; }
# doctor STATUS CONDITION COMMAND…: succeeds if COMMAND exits with STATUS and its object meets CONDITION.
doctor() { "${@:3}" >doctor.out 2>doctor.err; [ $? = "$1" ] && ndjson doctor.out "event == 'doctor' and ($2)"; }

check 'without adapters: status 3' doctor 3 "not ok and not may['scan'] and may['virtual']
    and missing['scan'] == ['adapter']" bletool doctor --json
two_adapters
check 'root has all abilities: status 0' doctor 0 "ok and all(may.values()) and missing == {}
    and [c['subject'] for c in checks if c['check'] == 'adapter' and c['status'] == 'ok'] == ['hci0', 'hci1']" \
    bletool doctor --json
check 'the text output contains the adapter' output 'ok  *adapter hci0' bletool doctor
check 'the user nobody lacks capabilities: status 4' doctor 4 "not ok and missing['scan'] == ['CAP_NET_RAW']
    and missing['user'] == ['CAP_NET_ADMIN']
    and any('setcap' in (c['fix'] or '') for c in checks if c['check'] == 'capabilities')" \
    nobody /scratch/bletool doctor --json
check 'the output ends with an error in JSON' ndjson doctor.out "event == 'error' and kind == 'permission' and code == 4"
check 'with both capabilities: status 0' doctor 0 "ok and all(may.values())" \
    allowed +net_raw,+net_admin /scratch/bletool doctor --json
check 'with one capability: status 4' doctor 4 "may['scan'] and missing['power'] == ['CAP_NET_ADMIN']" \
    allowed +net_raw /scratch/bletool doctor --json
check 'the user channel without the capability: status 4' exits 4 \
    allowed +net_raw /scratch/bletool scan --adapter user:hci0 --timeout 2s
cp check.log user.log
check 'the message names the capability' grep -q 'CAP_NET_ADMIN' user.log
check 'the message names the command that grants it' grep -q 'setcap' user.log

chmod 600 /dev/ttyS1
check 'a serial port without permission: status 4' exits 4 \
    nobody /scratch/bletool scan --adapter serial:/dev/ttyS1 --timeout 2s
cp check.log serial.log
check 'the message names the command that grants the permission' grep -q 'usermod -aG' serial.log

mkdir -p /scratch/root/bletool/bonds
chmod -R 700 /scratch/root
check 'bonds of another user: status 4' exits 4 \
    nobody env XDG_STATE_HOME=/scratch/root /scratch/bletool gatt C0:00:00:00:00:01/random read 2a00 \
    --adapter virtual:phone --timeout 2s
check 'bonds of another user are not listed: status 4' exits 4 \
    nobody /scratch/bletool bonds list --state-dir /scratch/root/bletool

check 'another network namespace: status 3' doctor 3 "any('namespace' in c['message'] for c in checks)" \
    unshare -n /usr/local/bin/bletool doctor --json
check 'a scan in that namespace prints the reason' output 'network namespace' unshare -n /usr/local/bin/bletool scan --timeout 2s

for radio in /sys/class/rfkill/*; do echo 1 >"$radio/soft"; done
check 'rfkill: status 3' doctor 3 "missing['scan'] == ['adapter']
    and any(c['check'] == 'rfkill' and c['fix'] == 'rfkill unblock bluetooth' for c in checks)" \
    bletool doctor --json
check 'a scan of a blocked adapter: status 3' exits 3 bletool scan --adapter hci0 --timeout 2s
cp check.log rfkill.log
check 'the message names the command that unblocks the adapter' grep -q 'rfkill unblock' rfkill.log
check 'a scan on the user channel: status 3' exits 3 bletool scan --adapter user:hci0 --timeout 2s
cp check.log rfkill.log
check 'the message of the user channel names the command' grep -q 'rfkill unblock' rfkill.log
for radio in /sys/class/rfkill/*; do echo 0 >"$radio/soft"; done

bluetoothd
check 'bluetoothd causes a note' doctor 0 "any(c['check'] == 'bluetoothd' and c['status'] == 'note' for c in checks)" \
    bletool doctor --json
