# Our own pairing as central against the kernel's, with bluetoothctl as the user's agent: LE Secure Connections and
# legacy; both show numbers, or ours shows one; and the key on the next link.
# limit: 240
two_adapters
bluetoothd_server
bluetoothctl
check 'an agent answers' wait_for 10 grep -q 'Agent registered' bluetoothctl.out
bluez "select $peripheral"
ours() { bletool "$@" --adapter user:hci1 --json --state-dir /scratch/ours; }
# pairs ASKED ANSWER LEVEL OPTION…: ours begins, BlueZ's user is asked, and the link is then worth LEVEL.
pairs() {
    local asked=$1 answer=$2 level=$3 lines
    lines=$(wc -l <bluetoothctl.out)
    asks() { tail -n +$((lines + 1)) bluetoothctl.out | grep -q "$asked"; }
    background pair bletool pair "$peripheral/public" --security "$level" --adapter user:hci1 --json \
        --state-dir /scratch/ours --connect-timeout "$(units 40)s" --timeout "$(units 40)s" "${@:4}"
    check "BlueZ asks: $asked" wait_for 30 asks
    bluez "$answer"
    check "they have paired: $level" wait_for 20 ndjson pair.out \
        "event == 'paired' and level == '$level' and keySize == 16 and bonded"
    wait_for 10 unlinked
    check 'the key is good for the next link' ndjson_of bonded "event == 'link'" \
        ours gatt "$peripheral/public" info --security "$level" --connect-timeout "$(units 40)s"
    wait_for 10 unlinked
    ours_forget
}
ndjson_of() { run "$1" "${@:3}" && ndjson "$1.out" "$2"; }
ours_forget() {
    bletool bonds remove --all --state-dir /scratch/ours >/dev/null
    bluez "remove $central"
    mgmt 0 unpair -t 1 "$central" >/dev/null
}
pairs 'Confirm passkey' yes fips --io displayYesNo --accept-comparison
pairs 'Enter passkey' 123456 fips --io display --passkey 123456
mgmt 0 sc off >/dev/null
pairs 'Enter passkey' 123456 high --io display --passkey 123456
