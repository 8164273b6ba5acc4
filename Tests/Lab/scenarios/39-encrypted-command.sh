# A bonded central connects again, encrypts the link and sends a Write Command before any request. The server checks the
# command by the security that the link has at that time.
# limit: 150
two_adapters
mgmt 0 bondable off >/dev/null
mgmt 1 bondable off >/dev/null
cat >command.yaml <<'CONFIG'
name: Command
advertise: {services: [fff0], interval: 100ms}
services:
  - uuid: fff0
    characteristics:
      - {uuid: fff1, properties: [writeWithoutResponse], permissions: {write: encrypted}, value: "00"}
CONFIG
background serve bletool serve command.yaml --adapter hci0 --json --state-dir /scratch/peripheral
ready serve
from_central() {
    bletool "$1" "$peripheral/public" "${@:2}" --adapter hci1 --json --connect-timeout "$(units 40)s" --state-dir /scratch/central
}
check 'the devices pair' run paired from_central pair --security medium
check 'the devices are bonded' ndjson paired.out "event == 'paired' and bonded"
wait_for 10 unlinked
check 'tree prints the handle of the value' run tree from_central gatt tree
handle=$(sed -n 's/.*"uuid":"[^"]*","handle":[0-9]*,"valueHandle":\([0-9]*\),"properties":\["writeWithoutResponse.*/\1/p' tree.out)
wait_for 10 unlinked

write_command() { "$here/send-command" "$central" "$peripheral" "$1" "$(printf '52%02x00%s' "$handle" "$2")"; }
check 'a command on an encrypted link is sent' write_command 2 0102
check 'the server accepts the command' wait_for 10 ndjson serve.out "event == 'write' and type == 'command' and value == '0102'"
wait_for 10 unlinked
check 'a command on a link without encryption is sent' write_command 1 0304
wait_for 10 unlinked
check 'the server ignores the command' test "$(grep -c '"event":"write"' serve.out)" = 1

check 'a command that does not know the bond uses the link without encryption' output '"uuid":"fff1"' \
    bletool gatt "$peripheral/public" tree --adapter hci1 --json --connect-timeout "$(units 40)s" --state-dir /scratch/other
wait_for 10 unlinked
bluetoothd
check 'beside bluetoothd, a device whose bond is here is not used: status 3' exits 3 run beside from_central gatt tree
check 'the message names bluetoothd' grep -q bluetoothd beside.err
finish bluetoothd KILL >/dev/null
check 'Ctrl-C ends the server' ends serve 'signal INT' INT
