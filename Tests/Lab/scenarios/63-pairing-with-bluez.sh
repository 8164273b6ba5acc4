# bletool's own pairing as peripheral with the kernel's, with bluetoothctl as the agent: LE Secure Connections and legacy
# pairing, a passkey that bletool shows, and the encryption of the next link with the key.
# limit: 240
two_adapters
background serve bletool serve "$here/secret.yaml" --adapter user:hci0 --json --state-dir /scratch/bonds \
    --io display --passkey 123456
ready serve
bluetoothd
bluetoothctl
check 'an agent is registered' wait_for 10 grep -q 'Agent registered' bluetoothctl.out
bluez "select $central"
securities() { grep -c '"event":"security"' serve.out; }
again() { [ "$(securities)" -gt "$before" ]; }
paired() { tail -n +$((lines + 1)) bluetoothctl.out | grep -q 'Pairing successful'; }
for mode in on off; do
    # bluetoothd switches Secure Connections on when it starts.
    mgmt 1 sc $mode >/dev/null
    check "secure connections $mode: bluetoothd finds the server" prints 20 "Device $peripheral" 'scan le'
    bluez scan off
    lines=$(wc -l <bluetoothctl.out)
    check 'the agent is asked for the passkey' prints 30 'Enter passkey' "pair $peripheral"
    bluez 123456
    check 'the devices have paired' wait_for 20 paired
    check 'the link has the security level of the method' wait_for 10 ndjson serve.out "event == 'security' and keySize == 16 and bonded \
        and level == '$([ $mode = on ] && echo fips || echo high)'"
    check 'bletool has a bond' output '"authenticated":true' bletool bonds list --json --state-dir /scratch/bonds
    bluez "disconnect $peripheral"
    wait_for 10 unlinked
    before=$(securities)
    bluez "connect $peripheral"
    check 'the next link is encrypted with the key of the bond' wait_for 20 again
    check 'bluetoothd removes the device' prints 20 'has been removed' "remove $peripheral"
    wait_for 10 unlinked
    check 'bletool removes the bond' run removed bletool bonds remove --all --state-dir /scratch/bonds
done
check 'Ctrl-C ends the server' ends serve 'signal INT' INT
