# A scan and a connection of the kernel on the adapter of `bletool serve`, without a central and with one.
# limit: 180
radios=3
two_adapters
adapter 2 peripheral
other=$(address hci2)
background other bletool serve "$here/serve.yaml" --adapter hci2 --json
ready other
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve

on_air() { output "^$peripheral name=Lab" "$here/listen" hci2 1; }
check 'the server is on the air' wait_for 10 on_air
mgmt 0 find -l >find.log
check 'the server is on the air after a scan of the kernel' wait_for 10 on_air
check 'the kernel connects as a central' output '66 72 6f 6d 20 62 6c 65 74 6f 6f 6c' \
    timeout "$(units 15)" gatttool -i hci0 -b "$other" --char-read -a 0x0022
check 'the server is on the air beside that link' wait_for 10 on_air
check 'the kernel ends the link' wait_for 10 not output "$other" hcitool -i hci0 con
check 'the server is on the air after that link' wait_for 10 on_air

background central bletool gatt "$peripheral/public" notify fff3 --adapter hci1 --json
check 'a central subscribes' wait_for 30 ndjson central.out "event == 'notification'"
mgmt 0 find -l >find.log
check 'the server is on the air beside its central, after a scan of the kernel' wait_for 10 on_air
# With a link as peripheral, the kernel searches for the other device and does not connect.
background attempt timeout "$(units 5)" gatttool -i hci0 -b "$other" --char-read -a 0x0022
check 'the server is on the air while the kernel tries to connect' wait_for 10 on_air
finish attempt >/dev/null
check 'the server is on the air after that attempt' wait_for 10 on_air
check 'Ctrl-C ends the central' ends central 'signal INT' INT
consecutive() {
    python3 - <<'PYTHON'
import json
events = [json.loads(line) for line in open("central.out")]
values = [event["value"] for event in events if event["event"] == "notification"]
numbers = [int.from_bytes(bytes.fromhex(value), "little") for value in values]
print(numbers)
assert len(numbers) > 50 and numbers == list(range(numbers[0], numbers[0] + len(numbers))), "a value is missing"
PYTHON
}
check 'the central has received all values' consecutive
check 'Ctrl-C ends the server' ends serve 'signal INT' INT
check 'the server is off the air' not on_air
finish other INT >/dev/null
