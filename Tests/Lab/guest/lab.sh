# The commands that scenarios use. `here` is this folder. The working folder is the scenario's folder of the results.
# /scratch is empty at the start and is removed at the end.

checks=0

# btmgmt requires an input that can be polled and never ends. /dev/null has neither property.
mkfifo /scratch/never
exec 9<>/scratch/never

# --- results ---------------------------------------------------------------------------------------------------

# check DESCRIPTION COMMAND…: runs COMMAND and prints one line of TAP. The output of a COMMAND that fails follows it.
check() {
    local description=$1
    shift
    checks=$((checks + 1))
    if "$@" >check.log 2>&1; then
        echo "ok $checks - $description"
    else
        echo "not ok $checks - $description"
        { echo "$ $*" && tail -20 check.log; } | sed 's/^/#   /'
    fi
}

# die MESSAGE: ends a scenario that cannot continue. It counts as failed, because no plan is printed.
die() {
    echo "Bail out! $*"
    exit 1
}

# --- waiting ---------------------------------------------------------------------------------------------------

# The unit of time limits, in milliseconds, as measured by `scenarios`.
unit=${unit:-1000}
now() { echo "${EPOCHREALTIME/./}"; }

# units COUNT: prints the seconds of COUNT units, for the time limit of a command.
units() { awk "BEGIN { print $1 * $unit / 1000 }"; }

# wait_for UNITS COMMAND…: waits until COMMAND succeeds. A unit is a second on an idle host, and longer on a slower guest.
# The limit is four times UNITS, because the host can become busy meanwhile.
wait_for() {
    local end=$(($(now) + 4 * $1 * unit * 1000))
    shift
    until "$@" >wait.log 2>&1; do
        [ "$(now)" -lt "$end" ] || { cat wait.log && return 1; }
        sleep 0.1
    done
}

# background NAME COMMAND…: starts COMMAND in the background with `watched`.
background() {
    rm -f "$1".{pid,end,cpu,out,err}
    "$here/watched" "$@" <&9 &
    wait_for 10 test -s "$1.pid" || die "$1 does not start"
}

# finish NAME [SIGNAL]: sends the signal, waits for the end and prints its kind, such as `exit 0` or `signal INT`.
finish() {
    [ $# -lt 2 ] || kill -"$2" "$(cat "$1.pid")" 2>/dev/null
    wait_for 20 test -s "$1.end" || { echo 'no end'; kill -KILL "$(cat "$1.pid")"; return 1; }
    cat "$1.end"
}

# ends NAME HOW [SIGNAL]: succeeds if the background command ends in a way that matches the pattern HOW.
ends() {
    local how
    how=$(finish "$1" "${@:3}")
    echo "$1: $how, expected $2"
    # shellcheck disable=SC2053
    [[ $how == $2 ]]
}

# exits STATUS COMMAND…: succeeds if COMMAND exits with STATUS.
exits() {
    local expected=$1 status=0
    shift
    "$@" || status=$?
    echo "exit $status, expected $expected"
    [ $status = "$expected" ]
}

# run NAME COMMAND…: succeeds if COMMAND succeeds. Its output is left in NAME.out and NAME.err.
run() {
    local name=$1 status=0
    shift
    "$@" >"$name.out" 2>"$name.err" || status=$?
    head -c 2000 "$name.out" "$name.err"
    [ $status = 0 ] || echo "exit $status"
    return $status
}

# output PATTERN COMMAND…: succeeds if the output of COMMAND matches the pattern.
output() {
    local pattern=$1
    shift
    "$@" >output.log 2>&1
    cat output.log
    grep -q -- "$pattern" output.log
}

# at_least COUNT PATTERN FILE: succeeds if at least COUNT lines of FILE match the pattern.
at_least() {
    echo "$(grep -c -- "$2" "$3") lines match $2"
    [ "$(grep -c -- "$2" "$3")" -ge "$1" ]
}

not() { ! "$@"; }

ndjson() { "$here/ndjson" "$@"; }

# The tool under test, with a time limit for commands in the foreground.
bletool() { timeout -k 5 "$(units 90)" /usr/local/bin/bletool "$@"; }

# --- processor time, in milliseconds ---------------------------------------------------------------------------

spent() { awk '{ print 10 * ($14 + $15) }' "/proc/$(cat "$1.pid")/stat"; }

# idle NAME: succeeds if the background command uses almost no processor time while it has nothing to do. The guest is
# emulated and slow, so the first measurement can include the start of the program. The limit is in units as well.
idle() {
    local before after
    for _ in 1 2 3 4; do
        before=$(spent "$1") && sleep 3 && after=$(spent "$1") || return 1
        echo "$1 used $((after - before)) ms in 3 s"
        [ $((after - before)) -gt $((150 * unit / 1000)) ] || return 0
    done
    return 1
}

# --- radios ----------------------------------------------------------------------------------------------------

btmgmt() { timeout "$(units 15)" /usr/bin/btmgmt "$@" <&9; }

# mgmt INDEX COMMAND…: runs a command of btmgmt on an adapter.
mgmt() { btmgmt --index "$@"; }

address() { hciconfig "$1" | sed -n 's/.*BD Address: \([^ ]*\).*/\1/p'; }

no_adapters() { [ -z "$(ls /sys/class/bluetooth)" ]; }

# Adds $radios dual-mode controllers, two by default, as hci0 and so on, all down. They receive only each other.
air() {
    wait_for 10 no_adapters || die 'the adapters of the previous scenario still exist'
    background btvirt btvirt "-l${radios:-2}" "$@"
    # mgmt lists an adapter after the kernel has set it up.
    wait_for 10 output "with ${radios:-2} items" btmgmt info || die 'no adapters'
}

# adapter INDEX ROLE: powers an adapter on. This uses mgmt, because an adapter that `hciconfig up` powered on has no SMP. LE
# is off by default.
adapter() {
    local index=$1 role=$2 setting
    for setting in 'power off' 'le on' 'ssp on' 'sc on' 'bondable on' 'io-cap 3' 'power on'; do
        # shellcheck disable=SC2086
        mgmt "$index" $setting >/dev/null
    done
    [ "$role" = central ] || mgmt "$index" connectable on >/dev/null
    hciconfig "hci$index" | grep -q 'UP RUNNING' || die "hci$index is not powered on"
}

# Adds two adapters: hci0, the peripheral, and hci1, the central.
two_adapters() {
    air
    adapter 0 peripheral
    adapter 1 central
    peripheral=$(address hci0)
    central=$(address hci1)
}

# Adds two adapters whose controllers are on an air of bletool, C0:00:00:00:00:00 and C0:00:00:00:00:01, with the kernel as
# the host. $air_options are options of `bletool air`, the arguments are additional settings of mgmt.
virtual_air() {
    local number setting
    # bletool reads the addresses from debugfs.
    mount -t debugfs debugfs /sys/kernel/debug
    # shellcheck disable=SC2086
    background air bletool air --listen unix:/scratch/air --json ${air_options:-}
    ready air
    for number in 0 1; do
        background "kernel$number" "$here/kernel-host" /scratch/air
        wait_for 10 grep -q "hci$number" "kernel$number.out" || die 'no adapter'
    done
    wait_for 10 output 'with 2 items' btmgmt info || die 'the kernel does not set them up'
    for number in 0 1; do
        for setting in "static-addr C0:00:00:00:00:0$number" 'le on' 'connectable on' "$@" 'power on'; do
            # shellcheck disable=SC2086
            mgmt $number $setting >/dev/null
        done
    done
}

# Ends the air of bletool, and checks that it ends by the signal.
end_virtual_air() {
    finish kernel0 TERM >/dev/null
    finish kernel1 TERM >/dev/null
    umount /sys/kernel/debug
    check 'SIGTERM ends the air' ends air 'signal TERM' TERM
}

# ready NAME CONDITION…: waits until the background job NAME prints its `ready` line. CONDITION is as in `ndjson`.
ready() {
    check "$1 becomes ready" wait_for 15 ndjson "$1.out" "event == 'ready'" "${@:2}"
    ndjson "$1.out" "event == 'ready'" >/dev/null 2>&1 || die "$1 does not become ready"
}

# unplug NAME…: removes the adapters, like an unplugged dongle. Checks that the background jobs NAME report it, and end with
# one of the statuses in $unplugged.
unplug() {
    local name
    for name in "$@"; do spent "$name" >"$name.before"; done
    finish btvirt KILL >/dev/null
    for name in "$@"; do
        check "$name ends" ends "$name" "exit $unplugged"
        check "$name prints the reason on standard error" grep -q '^bletool: .*: ' "$name.err"
        check "$name prints the reason in JSON" ndjson "$name.out" "event == 'error' and len(message) > 0"
        check "$name uses little processor time" test $(($(cat "$name.cpu") - $(cat "$name.before"))) -le $((unit / 2))
    done
}

# Succeeds if hci1 has no link. The kernel keeps a link for two seconds after its last socket is closed. A program that
# connects in that time gets the same link, without a new connection at the peer.
unlinked() { not output 'LE' hcitool -i hci1 con; }

# mgmt_finds PATTERN: succeeds if a discovery of ten seconds prints PATTERN. The air reports an advertiser only when a
# scan starts, and the kernel drops a report that arrives before the completion of the scan's start. So there are six
# attempts.
mgmt_finds() {
    local attempt
    for attempt in 1 2 3 4 5 6; do
        output "$1" mgmt 1 find -l && return
        echo "attempt $attempt failed"
    done
    return 1
}

# Prints the devices that hcitool finds: the address and, if advertised, the name.
lescan() { timeout -s INT 3 stdbuf -oL hcitool -i hci1 lescan; }

# Prints what the lab's own scanner receives on hci1 within a second.
received() { "$here/listen" hci1 1; }
not_received() { received >not_received.out && not grep -q -- "$1" not_received.out; }

# --- bluetoothd ------------------------------------------------------------------------------------------------

bluetoothd() {
    mkdir -p /run/dbus
    dbus-daemon --system --fork
    background bluetoothd /usr/libexec/bluetooth/bluetoothd -n
    wait_for 15 dbus-send --system --print-reply --dest=org.bluez /org/bluez/hci0 \
        org.freedesktop.DBus.Introspectable.Introspect || die 'bluetoothd does not start'
}

# Starts bluetoothctl, which reads commands from `bluez`. Its output is in bluetoothctl.out.
bluetoothctl() {
    mkfifo /scratch/bluetoothctl
    exec 8<>/scratch/bluetoothctl
    background bluetoothctl sh -c 'exec stdbuf -oL bluetoothctl </scratch/bluetoothctl'
}
bluez() { echo "$*" >&8; }

# prints UNITS PATTERN COMMAND…: succeeds if bluetoothctl prints PATTERN after COMMAND.
prints() {
    local limit=$1 pattern=$2 lines
    lines=$(wc -l <bluetoothctl.out)
    bluez "${@:3}"
    printed() { tail -n +$((lines + 1)) bluetoothctl.out | output "$pattern" cat; }
    wait_for "$limit" printed
}

# Starts bluetoothd with the GATT server of `gatt-server` on hci0, and advertises it.
bluetoothd_server() {
    bluetoothd
    background gatt-server "$here/gatt-server" hci0
    wait_for 15 grep -q ready gatt-server.out || die 'bluetoothd refuses the GATT server'
    mgmt 0 add-adv -c -u fff0 1 >/dev/null
}

# --- recordings ------------------------------------------------------------------------------------------------

# record ADAPTER: records from now on what ADAPTER sends and receives, in session.btsnoop.
record() {
    background btmon btmon -i "$1" -w session.btsnoop
    wait_for 5 test -s session.btsnoop || die 'btmon records nothing'
}
recorded() {
    finish btmon INT >/dev/null
    btmon -r session.btsnoop >session.log
    check 'the session is recorded' grep -q 'ATT: Read Response' session.log
}

# toured PATTERN: checks each line of the tour of Examples, the central's in visitor.out and the peripheral's in
# visited.out. PATTERN is the expected result of the peripheral's flood.
toured() {
    local line
    for line in 'found Grand tour with [fff0], connectable' 'its identifier is lasting: true, public or static: true' \
        'its overflow area has the bit of fff0: true' \
        'a second connect has joined the first, and is connected without it' 'events: connected, disconnected' \
        'suspended: of 4 events one came, disconnected; the next is connected' \
        'a connect without limit: connecting, cancelled, disconnected' 'a connect with a limit: no link, failed' \
        'retrieved by identifier: ["connected"]' 'connected: 1 with fff0, 0 with fffa' 'linked by this process: true' \
        'known from before: 1' 'signal strength: -127 to 20 dBm, or unknown: true' \
        'longest write: 512 octets, without response the MTU less 3: true' 'services: [180f, fff0]' \
        'included in fff0: [180f]' 'characteristics of fff0: [fff1, fff2, fff3, fff4, fff5, fff6, fff7, fff8, fffd]' \
        'descriptor of fff2: it is called Answers' 'descriptor of fff2: it is text' \
        'descriptor of fff2: no client has subscribed' 'descriptor of fff4: it is written reliably' \
        'heart rate: 72 a minute' 'battery: 80 %' 'made by Examples, model Tour' 'greet: welcome' 'slower: latency 2' \
        'faster: latency 0' 'a flood came whole' \
        'slow: worth waiting for' 'left and right are written' 'guests after add: 1' 'guests after remove: 0' \
        'no alarm without pairing: true' 'alarm by notification: fire; the link is encrypted' \
        'alarm by indication: fire; the link is encrypted' \
        'chain: battery 80 % by scan, connect, read' 'each: [80] %' \
        'chain to an absent device: scan failed, as channel absent reports' \
        'states: poweredOn, poweredOff; the adapter was closed'; do
        check "central: $line" grep -qxF "$line" visitor.out
    done
    # The kernel keeps a link for two seconds. If it keeps this link, the link is already encrypted and needs no signature.
    check 'central: signed' grep -qxE 'signed: by me; the link is (open|encrypted)' visitor.out
    check 'peripheral: signed' grep -qxE 'signed: by me by a link that is (open|encrypted)' visited.out
    # The kernel may send as fast as a slow guest writes, so a full link is optional.
    check "peripheral: flood: $1" grep -qxE "flood: $1" visited.out
    check 'central: the writes without response are counted' \
        grep -qxE 'without response: full (true|false), then ready true, all counted true' visitor.out
    for line in 'heart rate: room for 512 octets' 'greet: welcome' 'slower: latency 2' 'faster: latency 0' \
        'slow: asked from octet 0, in packets of 517 octets' 'slow: answered later' \
        'together: fff4 [1], fff5 [2]' 'add: a guest came' 'remove: the guest left' \
        'alarm: notifications for a link that is encrypted' 'alarm: indications for a link that is encrypted'; do
        check "peripheral: $line" grep -qxF "$line" visited.out
    done
}
