# Both ends are the kernel's, without bluetoothd: the kernels pair, and ours answer for the users. Every method, the
# bonds that come of it, and links that are encrypted with them after the kernel has forgotten all.
# limit: 300
two_adapters
mgmt 0 bondable off >/dev/null
mgmt 1 bondable off >/dev/null
cat >secret.yaml <<'CONFIG'
name: Secret
advertise: {services: [fff0], interval: 100ms}
services:
  - uuid: fff0
    characteristics:
      - {uuid: fff1, properties: [read], permissions: {read: encrypted}, value: "a secret"}
      - {uuid: fff2, properties: [read], permissions: {read: authenticated}, value: "more so"}
      - {uuid: fff3, properties: [read, signedWrite], value: "unsigned"}
CONFIG
# serving OPTION…: the server, with bonds of its own.
serving() {
    background serve bletool serve secret.yaml --adapter hci0 --json --state-dir /scratch/peripheral "$@"
    ready serve
}
# from_central COMMAND ARGUMENT…: a command about the server, with other bonds.
from_central() {
    bletool "$1" "$peripheral/public" "${@:2}" --adapter hci1 --json --connect-timeout "$(units 40)s" --state-dir /scratch/central
}
bonds_of() { bletool bonds list --json --state-dir "/scratch/$1"; }
# anew: no side has a bond.
anew() {
    check 'Ctrl-C ends the server' ends serve 'signal INT' INT
    wait_for 10 unlinked
    rm -rf /scratch/central /scratch/peripheral
}

# Just Works.
serving
check 'a value that requires encryption is read: the kernels pair' run works from_central gatt read fff1
check 'its value' ndjson works.out "bytes.fromhex(value) == b'a secret'"
check "the server reports the link's security" wait_for 5 ndjson serve.out \
    "event == 'security' and level == 'medium' and keySize == 16"
check 'the central has a bond' output '"secureConnections":true' bonds_of central
check 'and so has the server' wait_for 5 output '"secureConnections":true' bonds_of peripheral
wait_for 10 unlinked
check 'the keys of the bond sign a write on a link without encryption' from_central gatt write fff3 0102 --signed
check 'it is taken' wait_for 5 ndjson serve.out "event == 'write' and type == 'signed' and value == '0102'"
wait_for 10 unlinked
check 'Just Works does not suffice for a value that requires authentication' exits 6 from_central gatt read fff2
anew

# Comparison, at both sides.
serving --io displayYesNo --accept-comparison
check 'two that show and are asked compare' run compared from_central pair --security high --io displayYesNo \
    --accept-comparison
check 'both see a number' ndjson compared.out "event == 'comparison' and len(passkey) == 6"
check 'they have paired with Secure Connections' ndjson compared.out "event == 'paired' and level == 'fips' and bonded"
check 'the server saw the same number' grep -q "$(grep -o '"passkey":"[0-9]*"' compared.out)" serve.out
wait_for 10 unlinked

# The bond serves the next link, also when the kernel has lost its keys.
check 'Ctrl-C ends the server' ends serve 'signal INT' INT
mgmt 0 unpair -t 1 "$central" >/dev/null
mgmt 1 unpair -t 1 "$peripheral" >/dev/null
serving --io displayYesNo
check 'the bond alone is enough for the next link' run bonded from_central gatt read fff2 --io displayYesNo
check 'its value' ndjson bonded.out "bytes.fromhex(value) == b'more so'"
check 'no user was asked' not grep -q comparison serve.out bonded.out
wait_for 10 unlinked

# Another program has removed the bond on one side.
mgmt 0 unpair -t 1 "$central" >/dev/null
check 'a bond that the kernel is made to forget is none' wait_for 5 not output '"event":"bond"' bonds_of peripheral
check 'who has lost the bond is not paired with anew' exits 6 run lost from_central gatt read fff1 --security medium
# Or, where the central's kernel has dropped its key, too, and pairs by Just Works: that this is worth less than the bond.
check 'the error says so' grep -Eq 'no longer has the key of the bond|Authentication Requirements' lost.err
anew

# A passkey: the server shows it, and it is typed at the central's terminal.
serving --io display
mkfifo /scratch/keys
exec 7<>/scratch/keys
# typing COMMAND…: at a terminal, whose keys are /scratch/keys.
typing() { background typing sh -c 'exec script -qec "$0" /dev/null </scratch/keys' "bletool $*"; }
type_passkey() {
    wait_for 30 grep -q 'shows: ' typing.out && wait_for 5 grep -q '"event":"passkey"' serve.out || return 1
    echo "$1" >&7
}
pairing="pair $peripheral/public --security high --io keyboard --adapter hci1 --json --connect-timeout "$(units 40)s" \
    --state-dir /scratch/central"
typing "$pairing"
check 'the central asks for what the server shows' type_passkey 000000
check 'a wrong passkey does not pair' ends typing 'exit 6'
wait_for 10 unlinked
typing "$pairing"
shown() { sed -n 's/.*"passkey":"\([0-9]*\)".*/\1/p' serve.out | tail -1; }
wait_for 30 at_least 2 '"event":"passkey"' serve.out
check 'the central asks again' type_passkey "$(shown)"
check 'the right passkey does' ends typing 'exit 0'
check 'the link is authenticated' grep -q '"level":"fips"' typing.out
anew

# LE legacy pairing, for one side has nothing else.
serving
mgmt 0 sc off >/dev/null
check 'with a kernel that has no Secure Connections it is legacy pairing' run legacy from_central gatt read fff1
check 'the central has that bond' output '"secureConnections":false' bonds_of central
wait_for 10 unlinked
check 'and the server with keys for its own part' wait_for 5 output '"secureConnections":false' bonds_of peripheral
mgmt 1 unpair -t 1 "$peripheral" >/dev/null
check 'it serves the next link' run legacy2 from_central gatt read fff1
anew

# At the end the adapters are as they were.
check 'pairing makes no bonds any more' not output 'current settings:.* bondable' mgmt 0 info
check 'and Secure Connections are on' output 'current settings:.* secure-conn' mgmt 1 info
