# Both hosts are the kernel, without bluetoothd. The kernel pairs, and bletool answers for the users. The scenario tests
# every method, the resulting bonds, and links that are encrypted with them after the kernel has lost its keys.
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
# serving OPTION…: starts the server, with its own folder of bonds.
serving() {
    background serve bletool serve secret.yaml --adapter hci0 --json --state-dir /scratch/peripheral "$@"
    ready serve
}
# from_central COMMAND ARGUMENT…: runs a command with the server as the device, and another folder of bonds.
from_central() {
    bletool "$1" "$peripheral/public" "${@:2}" --adapter hci1 --json --connect-timeout "$(units 40)s" --state-dir /scratch/central
}
bonds_of() { bletool bonds list --json --state-dir "/scratch/$1"; }
# end_and_unpair: ends the server and removes the bonds of both sides.
end_and_unpair() {
    check 'Ctrl-C ends the server' ends serve 'signal INT' INT
    wait_for 10 unlinked
    rm -rf /scratch/central /scratch/peripheral
}

# Just Works.
serving
check 'the kernels pair when a value that requires encryption is read' run works from_central gatt read fff1
check 'the read returns the value' ndjson works.out "bytes.fromhex(value) == b'a secret'"
check "the server reports the link's security" wait_for 5 ndjson serve.out \
    "event == 'security' and level == 'medium' and keySize == 16"
check 'the central has a bond' output '"secureConnections":true' bonds_of central
check 'the server has a bond' wait_for 5 output '"secureConnections":true' bonds_of peripheral
wait_for 10 unlinked
check 'a key of the bond signs a write on a link without encryption' from_central gatt write fff3 0102 --signed
check 'the server accepts the signed write' wait_for 5 ndjson serve.out "event == 'write' and type == 'signed' and value == '0102'"
wait_for 10 unlinked
check 'Just Works does not suffice for a value that requires authentication' exits 6 from_central gatt read fff2
end_and_unpair

# Numeric comparison that nobody makes is none: the kernel would call its key authenticated.
serving --io displayYesNo --accept-comparison
check 'the devices pair without it' run plain from_central pair --io displayYesNo --accept-comparison
check 'the link is not authenticated' ndjson plain.out "event == 'paired' and level == 'medium' and bonded"
end_and_unpair
serving --io displayYesNo --accept-comparison
check 'a comparison that nobody makes does not authenticate' exits 6 run unseen from_central pair --security high \
    --io displayYesNo --accept-comparison
end_and_unpair

# Numeric comparison on both sides. The users answer at terminals that read their keys from pipes.
mkfifo /scratch/keys /scratch/answers
exec 7<>/scratch/keys 8<>/scratch/answers
# at_terminal NAME PIPE COMMAND: runs bletool in the background at a terminal.
at_terminal() { background "$1" sh -c "exec script -qec \"\$0\" /dev/null <$2" "bletool $3"; }
typing() { at_terminal typing /scratch/keys "$*"; }
pairing="pair $peripheral/public --security high --adapter hci1 --json --connect-timeout "$(units 40)s" --state-dir /scratch/central"
at_terminal serve /scratch/answers "serve secret.yaml --adapter hci0 --json --state-dir /scratch/peripheral --io displayYesNo"
ready serve
typing "$pairing --io displayYesNo"
compares() { wait_for 30 grep -q 'too? ' "$1.out" && echo y >&"$2"; }
check 'the user of the central is asked' compares typing 7
check 'the user of the server is asked' compares serve 8
check 'two devices with display and yes/no input pair by comparison' ends typing 'exit 0'
number() { grep -o '"event":"comparison".*"passkey":"[0-9]*"' "$1.out" | grep -o '"[0-9]*"$'; }
check 'both sides show the same number' [ "$(number typing)" = "$(number serve)" ]
check 'the link is authenticated, with Secure Connections' grep -q '"level":"fips"' typing.out
wait_for 10 unlinked
printf '\003' >&8
check 'Ctrl-C ends the server' ends serve 'exit 130'

# The bond encrypts the next link, also after the kernel has lost its keys.
mgmt 0 unpair -t 1 "$central" >/dev/null
mgmt 1 unpair -t 1 "$peripheral" >/dev/null
serving --io displayYesNo
check 'the bond alone suffices for the next link' run bonded from_central gatt read fff2 --io displayYesNo
check 'the read over the bonded link returns the value' ndjson bonded.out "bytes.fromhex(value) == b'more so'"
check 'no user was asked' not grep -q comparison serve.out bonded.out
wait_for 10 unlinked

# Another program removes the bond on one side.
mgmt 0 unpair -t 1 "$central" >/dev/null
check 'a bond that another program removes from the kernel is removed' wait_for 5 not output '"event":"bond"' bonds_of peripheral
check 'the central does not pair again with a server that has lost the bond' exits 6 run lost from_central gatt read fff1 --security medium
# The central's kernel may have dropped its key too, and pair by Just Works. The error then is that Just Works is weaker
# than the bond.
check 'the error contains the reason' grep -Eq 'no longer has the key of the bond|Authentication Requirements' lost.err
end_and_unpair

# Another device uses the address of a bonded server: nothing is sent to it.
serving
check 'the devices pair' run first from_central pair
wait_for 10 unlinked
check 'Ctrl-C ends the server' ends serve 'signal INT' INT
rm -rf /scratch/peripheral
mgmt 0 unpair -t 1 "$central" >/dev/null
serving
for attempt in 1 2 3; do
    mgmt 1 unpair -t 1 "$peripheral" >/dev/null
    check "an open value is not read without the key ($attempt)" exits 6 run open from_central gatt read fff3
    check 'the error is the lost bond' grep -q 'no longer has the key of the bond' open.err
    wait_for 10 unlinked
done
check 'an open value is read without encryption on request' run plain from_central gatt read fff3 --plain-text
wait_for 10 unlinked
background maintain bletool maintain "$peripheral/public" --adapter hci1 --json --state-dir /scratch/central
check 'a maintained link reports the lost bond' wait_for 30 ndjson maintain.out "event == 'failed' and bondLost"
check 'and is tried again' wait_for 30 at_least 2 '"bondLost":true' maintain.out
check 'Ctrl-C ends maintain' ends maintain 'signal INT' INT
wait_for 10 unlinked
check 'with --end-when-bond-lost it ends' exits 6 bletool maintain "$peripheral/public" --adapter hci1 --json \
    --state-dir /scratch/central --end-when-bond-lost
end_and_unpair

# Passkey entry: the server shows the passkey, and it is typed on the central's terminal.
serving --io display
type_passkey() {
    wait_for 30 grep -q 'shows: ' typing.out && wait_for 5 grep -q '"event":"passkey"' serve.out || return 1
    echo "$1" >&7
}
typing "$pairing --io keyboard"
check 'the central asks for the passkey that the server shows' type_passkey 000000
check 'a wrong passkey does not pair' ends typing 'exit 6'
wait_for 10 unlinked
typing "$pairing --io keyboard"
shown() { sed -n 's/.*"passkey":"\([0-9]*\)".*/\1/p' serve.out | tail -1; }
wait_for 30 at_least 2 '"event":"passkey"' serve.out
check 'the central asks again' type_passkey "$(shown)"
check 'the right passkey pairs' ends typing 'exit 0'
check 'the link is authenticated' grep -q '"level":"fips"' typing.out
end_and_unpair

# LE legacy pairing, because one side supports no other.
serving
mgmt 0 sc off >/dev/null
check 'legacy pairing with a kernel that has no Secure Connections succeeds' run legacy from_central gatt read fff1
check 'the central has a bond of legacy pairing' output '"secureConnections":false' bonds_of central
wait_for 10 unlinked
check 'the server has a bond of legacy pairing' wait_for 5 output '"secureConnections":false' bonds_of peripheral
mgmt 1 unpair -t 1 "$peripheral" >/dev/null
check 'the bond encrypts the next link' run legacy2 from_central gatt read fff1
end_and_unpair

# At the end, the settings of the adapters are restored.
check 'the adapter is not bondable any more' not output 'current settings:.* bondable' mgmt 0 info
check 'Secure Connections are on' output 'current settings:.* secure-conn' mgmt 1 info
