# The information about a link on kernel adapters, and a change of its parameters by raw commands, checked with btmon.
# limit: 90
two_adapters
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
record hci1

gatt() { bletool gatt "$peripheral/public" "$@" --adapter hci1 --json --connect-timeout "$(units 40)s"; }

check 'info succeeds' run info gatt info --interval 50ms-50ms --latency 1 --supervision 5s
check 'the link has the requested parameters' ndjson info.out "
    event == 'link' and address == '$peripheral' and interval == 50 and latency == 1 and timeout == 5000"
check 'info contains the values that the kernel and the controllers agreed on' ndjson info.out "
    mtu > 23 and phy in ('1m', '2m') and set(dataLength) == {'transmit', 'receive'}"
# btvirt has no LE Read Channel Map and no LE Read PHY. Values without a command of the controller are null, without a note.
check 'info contains the version and features of the peer' ndjson info.out "version is not None and len(features) > 0 and channels is None"
check 'info prints no notes' test ! -s info.err
check 'the server reports the change' ndjson serve.out "event == 'parameters' and interval == 50 and timeout == 5000"
check 'an interval out of range is refused: status 1' exits 1 gatt info --interval 5ms
cp check.log range.log
check 'the message names the range' grep -q '7.5ms to 4s' range.log

finish btmon INT >/dev/null
btmon -r session.btsnoop >session.log
check 'the controller received the command' grep -q 'LE Connection Update (0x08|0x0013)' session.log
check 'the command has that interval' grep -q 'connection interval: 50.00 msec (0x0028)' session.log
check 'the controller received the command that reads the peer version' grep -q 'Read Remote Version Information (0x01|0x001d)' session.log
