# Linux as the host of our virtual controllers, twice: its set-up of them, hciconfig, mgmt, and its own L2CAP.
# limit: 180
logged=$(dmesg | wc -l)
our_air
check 'hciconfig finds them up' output 'UP RUNNING' hciconfig hci0
check 'with our buffers' output 'ACL MTU: 251:12' hciconfig hci0
check 'and our version' output 'HCI Version: .*(0xd)' hciconfig hci0 version
check 'and all PHYs' output 'Supported phys: LE1MTX LE1MRX LE2MTX LE2MRX LECODEDTX LECODEDRX' mgmt 0 phy
check 'mgmt has our four advertising sets' output 'Max instances: 4' mgmt 0 advinfo
check 'hcitool adds to the accept list' hcitool -i hci0 lewladd --random C0:00:00:00:00:09
check 'hcitool reads the size of the accept list' output 'size: 16' hcitool -i hci0 lewlsz
check 'hcitool removes it again' hcitool -i hci0 lewlrm C0:00:00:00:00:09
check 'who mixes the families is refused' not timeout "$(units 5)" hcitool -i hci1 lescan

here_too() { bletool "$@" --adapter unix:/scratch/air --json; }

# Our host advertises, and the kernel finds it, connects, reads.
background serve bletool serve "$here/serve.yaml" --adapter unix:/scratch/air --json
ready serve
served=$(grep -o '"address":"[^"]*"' serve.out | head -1 | cut -d'"' -f4)
check 'a discovery of the kernel finds our server' wait_for 20 output "$served" mgmt 1 find -l
check 'the kernel connects to it and reads' run read bletool gatt "$served/random" read fff1 --adapter hci1 --json \
    --connect-timeout "$(units 40)s"
check 'its value' ndjson read.out "bytes.fromhex(value) == b'from bletool'"
check 'and is notified' run notify bletool gatt "$served/random" notify fff3 --count 3 --adapter hci1 --json \
    --timeout "$(units 40)s"
# Raw commands on a link of the kernel's, of those that btvirt lacks.
check 'its link can have LE 2M' run info bletool gatt "$served/random" info --phy 2m --adapter hci1 --json \
    --connect-timeout "$(units 40)s"
check 'it has' ndjson info.out "event == 'link' and phy == '2m'"
check 'it sends with the power of our controllers' ndjson info.out "
    event == 'link' and -20 <= txPower <= 0 and maximumTxPower == 0"
check 'in packets of full length' ndjson info.out "
    event == 'link' and dataLength['transmit'] == 251 and dataLength['receive'] == 251"
check 'its signal strength and its channels' ndjson info.out "
    event == 'link' and -127 <= rssi <= 20 and channels == '1fffffffff' and channelCount == 37"
check 'Ctrl-C ends the server' ends serve 'signal INT' INT

# The kernel advertises.
mgmt 0 add-adv -c -u 180d 1 >/dev/null
check 'our scan receives the advertising of the kernel' run scan here_too scan --service 180d --count 1 --timeout "$(units 40)s"
check 'by its address' ndjson scan.out "address == 'C0:00:00:00:00:00' and connectable"
mgmt 0 rm-adv 1 >/dev/null

# Both ends are the kernel's.
background peripheral bletool serve "$here/serve.yaml" --adapter hci0 --json
ready peripheral
check 'the kernel connects to the kernel and reads' run both bletool gatt C0:00:00:00:00:00/random read fff1 \
    --adapter hci1 --json --connect-timeout "$(units 40)s"
check 'its value' ndjson both.out "bytes.fromhex(value) == b'from bletool'"
check 'Ctrl-C ends the server of the kernel' ends peripheral 'signal INT' INT

# What the scenarios before have made it say is theirs.
said() { dmesg | tail -n +$((logged + 1)); }
check 'the kernel complains of nothing' not output 'Bluetooth: hci[01]:.*\(fail\|unexpected\|unknown\|timeout\|bad\)' said
btmon -r air.btsnoop >air.log
check 'btmon has read all that was said' at_least 1 'LE Extended Advertising Report' air.log
check 'and knows what it means' not grep -i 'invalid\|malformed\|bad ' air.log
our_air_ends
