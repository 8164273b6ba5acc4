# Linux as the host of two of bletool's virtual controllers: its set-up of them, hciconfig, mgmt, and its own L2CAP.
# limit: 180
logged=$(dmesg | wc -l)
virtual_air
check 'hciconfig shows the adapter up' output 'UP RUNNING' hciconfig hci0
check 'hciconfig shows the buffers of the controller' output 'ACL MTU: 251:12' hciconfig hci0
check 'hciconfig shows the version of the controller' output 'HCI Version: .*(0xd)' hciconfig hci0 version
check 'mgmt shows all PHYs' output 'Supported phys: LE1MTX LE1MRX LE2MTX LE2MRX LECODEDTX LECODEDRX' mgmt 0 phy
check 'mgmt shows four advertising sets' output 'Max instances: 4' mgmt 0 advinfo
check 'hcitool adds to the accept list' hcitool -i hci0 lewladd --random C0:00:00:00:00:09
check 'hcitool reads the size of the accept list' output 'size: 16' hcitool -i hci0 lewlsz
check 'hcitool removes the device from the accept list' hcitool -i hci0 lewlrm C0:00:00:00:00:09
check 'a mixture of legacy and extended commands is refused' not timeout "$(units 5)" hcitool -i hci1 lescan

here_too() { bletool "$@" --adapter unix:/scratch/air --json; }

# bletool's host advertises, and the kernel finds it, connects and reads.
background serve bletool serve "$here/serve.yaml" --adapter unix:/scratch/air --json
ready serve
served=$(grep -o '"address":"[^"]*"' serve.out | head -1 | cut -d'"' -f4)
check 'a discovery of the kernel finds the server of bletool' wait_for 20 output "$served" mgmt 1 find -l
check 'the kernel connects to the server and reads' run read bletool gatt "$served/random" read fff1 --adapter hci1 --json \
    --connect-timeout "$(units 40)s"
check 'the read returns the value' ndjson read.out "bytes.fromhex(value) == b'from bletool'"
check 'the kernel receives notifications' run notify bletool gatt "$served/random" notify fff3 --count 3 --adapter hci1 --json \
    --timeout "$(units 40)s"
# Raw commands on a link of the kernel that btvirt does not support. The link must be a new one, because the parameters of a
# link that exists before the process are unknown.
check 'the kernel ends the unused link' wait_for 20 unlinked
check 'info with the PHY LE 2M succeeds' run info bletool gatt "$served/random" info --phy 2m --adapter hci1 --json \
    --connect-timeout "$(units 40)s"
check 'the link has the PHY LE 2M' ndjson info.out "event == 'link' and phy == '2m'"
check 'the link has the transmit power of the controllers' ndjson info.out "
    event == 'link' and -20 <= txPower <= 0 and maximumTxPower == 0"
check 'the link has the maximum packet length' ndjson info.out "
    event == 'link' and dataLength['transmit'] == 251 and dataLength['receive'] == 251"
check 'the link has a signal strength and a channel map' ndjson info.out "
    event == 'link' and -127 <= rssi <= 20 and channels == '1fffffffff' and channelCount == 37"
check 'Ctrl-C ends the server' ends serve 'signal INT' INT

# The kernel advertises.
mgmt 0 add-adv -c -u 180d 1 >/dev/null
check 'a scan of bletool receives the advertising of the kernel' run scan here_too scan --service 180d --count 1 --timeout "$(units 40)s"
check 'the advertising has the address of the kernel' ndjson scan.out "address == 'C0:00:00:00:00:00' and connectable"
mgmt 0 rm-adv 1 >/dev/null

# Both hosts are the kernel.
background peripheral bletool serve "$here/serve.yaml" --adapter hci0 --json
ready peripheral
check 'the kernel connects to the kernel and reads' run both bletool gatt C0:00:00:00:00:00/random read fff1 \
    --adapter hci1 --json --connect-timeout "$(units 40)s"
check 'the read between kernels returns the value' ndjson both.out "bytes.fromhex(value) == b'from bletool'"
check 'Ctrl-C ends the server of the kernel' ends peripheral 'signal INT' INT

# Messages of previous scenarios are skipped.
kernel_log() { dmesg | tail -n +$((logged + 1)); }
check 'the kernel logs no errors' not output 'Bluetooth: hci[01]:.*\(fail\|unexpected\|unknown\|timeout\|bad\)' kernel_log
btmon -r air.btsnoop >air.log
check 'btmon reads the recording of the air' at_least 1 'LE Extended Advertising Report' air.log
check 'btmon reports no invalid packets' not grep -i 'invalid\|malformed\|bad ' air.log
end_virtual_air
