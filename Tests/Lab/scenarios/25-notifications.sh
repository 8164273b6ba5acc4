# A thousand notifications over a kernel link at the highest rate. None is lost, and the rate is printed.
# limit: 120
two_adapters
cat >fast.yaml <<'CONFIG'
name: Fast
advertise: {services: [fff0], interval: 100ms}
services:
  - {uuid: fff0, characteristics: [{uuid: fff1, properties: [notify], notify: {every: 1ms, counter: u16}}]}
CONFIG
background serve bletool serve fast.yaml --adapter hci0 --json
ready serve
check 'a thousand notifications arrive' run notify bletool gatt "$peripheral/public" notify fff1 --count 1000 --timeout "$(units 60)s" \
    --adapter hci1 --json
consecutive() {
    python3 - <<'PYTHON'
import datetime, json
values, times = [], []
for line in open("notify.out"):
    event = json.loads(line)
    values.append(int.from_bytes(bytes.fromhex(event["value"]), "little"))
    times.append(datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00")))
assert values == list(range(values[0], values[0] + 1000)), "a value is missing"
print("%d notifications a second" % (999 / (times[-1] - times[0]).total_seconds()))
PYTHON
}
check 'the values are consecutive' run rate consecutive
sed 's/^/# /' rate.out
check 'Ctrl-C ends serve by that signal' ends serve 'signal INT' INT
