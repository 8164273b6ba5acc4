# bletool's own pairing as central with the kernel's, with bluetoothctl as the agent: LE Secure Connections and legacy
# pairing, by comparison or with a passkey that bletool shows, and the encryption of the next link with the key.
# limit: 240
two_adapters
bluetoothd_server
bluetoothctl
check 'an agent is registered' wait_for 10 grep -q 'Agent registered' bluetoothctl.out
bluez "select $peripheral"
central() { bletool "$@" --adapter user:hci1 --json --state-dir /scratch/central; }
# pairs ASKED ANSWER LEVEL OPTION…: bletool starts pairing, BlueZ asks its user, and the link then has the level LEVEL.
pairs() {
    local asked=$1 answer=$2 level=$3 lines
    lines=$(wc -l <bluetoothctl.out)
    asks() { tail -n +$((lines + 1)) bluetoothctl.out | grep -q "$asked"; }
    background pair bletool pair "$peripheral/public" --security "$level" --adapter user:hci1 --json \
        --state-dir /scratch/central --connect-timeout "$(units 40)s" --timeout "$(units 40)s" "${@:4}"
    check "BlueZ asks: $asked" wait_for 30 asks
    bluez "$answer"
    check "the devices have paired: $level" wait_for 20 ndjson pair.out \
        "event == 'paired' and level == '$level' and keySize == 16 and bonded"
    wait_for 10 unlinked
    check 'the key encrypts the next link' ndjson_of bonded "event == 'link'" \
        central gatt "$peripheral/public" info --security "$level" --connect-timeout "$(units 40)s"
    wait_for 10 unlinked
    remove_bonds
}
ndjson_of() { run "$1" "${@:3}" && ndjson "$1.out" "$2"; }
remove_bonds() {
    bletool bonds remove --all --state-dir /scratch/central >/dev/null
    bluez "remove $central"
    mgmt 0 unpair -t 1 "$central" >/dev/null
}
# A comparison that only the peer's user makes does not authenticate the peer.
pairs 'Confirm passkey' yes medium --io displayYesNo --accept-comparison
pairs 'Enter passkey' 123456 fips --io display --passkey 123456
mgmt 0 sc off >/dev/null
pairs 'Enter passkey' 123456 high --io display --passkey 123456
