# What a link on kernel adapters is, and its parameters changed by raw commands, with btmon as the judge.
# limit: 90
two_adapters
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
record hci1

gatt() { bletool gatt "$peripheral/public" "$@" --adapter hci1 --json --connect-timeout "$(units 40)s"; }

check 'info' run info gatt info --interval 50ms-50ms --latency 1 --supervision 5s
check 'it has the parameters that were asked for' ndjson info.out "
    event == 'link' and address == '$peripheral' and interval == 50 and latency == 1 and timeout == 5000"
check 'it has what the kernel and the controllers agreed on' ndjson info.out "
    mtu > 23 and phy in ('1m', '2m') and set(dataLength) == {'transmit', 'receive'}"
# btvirt has no LE Read Channel Map and no LE Read PHY: what the controller has no command for is null, without a note.
check 'it has the peer' ndjson info.out "version is not None and len(features) > 0 and channels is None"
check 'and that is all there is to say' test ! -s info.err
check 'the server reports the change' ndjson serve.out "event == 'parameters' and interval == 50 and timeout == 5000"
check 'an interval out of range: status 1' exits 1 gatt info --interval 5ms
cp check.log range.log
check 'it names the range' grep -q '7.5ms to 4s' range.log

finish btmon INT >/dev/null
btmon -r session.btsnoop >session.log
check 'the controller received the command' grep -q 'LE Connection Update (0x08|0x0013)' session.log
check 'with that interval' grep -q 'connection interval: 50.00 msec (0x0028)' session.log
check 'the peer was asked for its version' grep -q 'Read Remote Version Information (0x01|0x001d)' session.log
