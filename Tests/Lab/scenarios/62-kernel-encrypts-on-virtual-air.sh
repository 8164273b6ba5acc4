# Linux as the host of two of bletool's virtual controllers pairs with itself and encrypts, and encrypts again with the
# stored key. bletool's controllers perform the encryption.
# limit: 200
virtual_air 'sc on' 'bondable on' 'io-cap 3'
# The kernel asks on both sides whether to pair.
for number in 0 1; do
    mkfifo "/scratch/agent$number"
    background "agent$number" sh -c "exec stdbuf -oL /usr/bin/btmgmt --index $number </scratch/agent$number"
done
exec 6<>/scratch/agent0 7<>/scratch/agent1
background btmon btmon -w session.btsnoop
wait_for 5 test -s session.btsnoop || die 'btmon records nothing'
background serve bletool serve "$here/secret.yaml" --no-advertise --adapter hci0 --json
ready serve
# The kernel itself advertises. It would not know the address of an advertising set of another program, and pairing includes
# the address.
mgmt 0 add-adv -c -u fff0 1 >/dev/null
gatt() { bletool gatt C0:00:00:00:00:00/random "$@" --adapter hci1 --json --connect-timeout "$(units 40)s"; }
check 'the value without protection is read' output '"value":"6e6f20736563726574"' gatt read fff2
wait_for 10 unlinked

background reader bletool gatt C0:00:00:00:00:00/random read fff1 --adapter hci1 --json --connect-timeout "$(units 40)s" \
    --timeout "$(units 40)s"
asked() { grep -q 'yes/no' "agent$1.out"; }
check 'the peripheral is asked' wait_for 40 asked 0
echo yes >&6
check 'the central is asked' wait_for 40 asked 1
echo yes >&7
wait_for 40 test -s reader.end
check 'the reader has the value' output '"value":"6120736563726574"' cat reader.out
check 'the reader ends with status 0' grep -q 'exit 0' reader.end
wait_for 10 unlinked
check 'with the stored key no user is asked' output '"value":"6120736563726574"' gatt read fff1 --timeout "$(units 30)s"
check 'Ctrl-C ends the server' ends serve 'signal INT' INT

finish btmon INT >/dev/null
"$here/packets" session.btsnoop >packets.log
check 'the central enables encryption twice' at_least 2 'hci1 < 0119201c' packets.log
check 'the peripheral replies with its key twice' at_least 2 'hci0 < 011a2012' packets.log
check 'both hosts receive the event each time' at_least 4 '> 04080400....01' packets.log
check 'each side sends a public key, as LE Secure Connections require' at_least 2 '< 02............06000c' packets.log
end_virtual_air
