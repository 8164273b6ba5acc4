# `bletool capture` records the packets of the kernel's adapters, from all programs, as btmon does. `decode` reads the file
# meanwhile.
# limit: 120
two_adapters
mgmt 0 name Reference >/dev/null

background capture bletool capture /scratch/all.btsnoop --json
background one bletool capture /scratch/one.btsnoop --adapter hci1 --json
check 'the recording of all adapters begins' wait_for 10 ndjson capture.out "event == 'capturing' and adapter == 'kernel'"
check 'the recording of one adapter begins' wait_for 10 ndjson one.out "event == 'capturing' and adapter == 'hci1'"
background btmon btmon -w /scratch/btmon.btsnoop
background follow bletool decode --follow /scratch/all.btsnoop --json
wait_for 5 test -s /scratch/btmon.btsnoop || die 'btmon records nothing'
mgmt 0 add-adv -c -u 180d -n 1 >/dev/null
check 'a scan receives the advertising' run scan bletool scan --adapter hci1 --json --count 1 --name 'Ref*' --timeout "$(units 40)s"
check 'the recording is read while it is written' wait_for 10 ndjson follow.out "name == 'LE Set Extended Scan Enable'"
sleep 1
finish btmon INT >/dev/null
check 'Ctrl-C ends capture by that signal' ends capture 'signal INT' INT
check 'Ctrl-C ends the other capture by that signal' ends one 'signal INT' INT
check 'capture prints the number of records and files' ndjson capture.out "event == 'captured' and records > 0 and files == 1"
bletool decode /scratch/all.btsnoop --json >all.json
bletool decode /scratch/one.btsnoop --json >one.json
bletool decode /scratch/btmon.btsnoop --json >btmon.json
# The packets of btmon are in bletool's recording, in the same order. btmon started later and ended earlier.
check 'the recording has all packets that btmon has' python3 - <<'END'
import json
def packets(name):
    lines = [json.loads(line) for line in open(name)]
    return [(line["adapter"], line["direction"], line["bytes"]) for line in lines if line["direction"]]
ours, theirs, one = packets("all.json"), packets("btmon.json"), packets("one.json")
assert theirs, "btmon recorded nothing"
starts = [index for index in range(len(ours)) if ours[index:index + len(theirs)] == theirs]
print(len(ours), len(theirs), len(one), starts)
assert starts
assert one and {adapter for adapter, _, _ in one} == {1}
END
check 'no packet is malformed' not grep -v '"problem":null' all.json
check 'btmon reads the recording' output 'HCI Command: ' btmon -r /scratch/all.btsnoop
check 'a count ends capture' run count bletool capture /scratch/count.btsnoop --count 1 --json --timeout "$(units 40)s"
