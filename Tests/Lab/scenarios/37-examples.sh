# The programs of Examples, built beside bletool, on kernel adapters.
# limit: 240
two_adapters
examples=$(dirname "$(realpath /usr/local/bin/bletool)")
[ -x "$examples/thermometer" ] || die "no examples beside bletool; build the whole package"

background thermometer "$examples/thermometer" hci0 Ward
check 'the thermometer is on the air' wait_for 15 mgmt_finds "$peripheral"
background gateway "$examples/gateway" hci1 1
check 'the gateway prints temperatures' wait_for 40 at_least 3 celsius gateway.out
check 'SIGKILL ends the thermometer' ends thermometer 'signal KILL' KILL
check 'the gateway reports the lost link' wait_for 20 grep -q 'lost: ' gateway.out
background thermometer "$examples/thermometer" hci0 Ward
check 'the gateway connects again' wait_for 60 grep -q 'connected 2' gateway.out
before=$(grep -c celsius gateway.out)
check 'the gateway prints temperatures again' wait_for 15 at_least $((before + 2)) celsius gateway.out
check 'the gateway uses almost no processor time' idle gateway
check 'Ctrl-C ends the gateway' ends gateway 'signal INT' INT
check 'the thermometer reports the disconnection' wait_for 10 grep -q disconnected thermometer.out
check 'Ctrl-C ends the thermometer' ends thermometer 'signal INT' INT
wait_for 10 unlinked

background uart "$examples/uart-bridge" hci0 Line
check 'the UART bridge is on the air' wait_for 15 mgmt_finds "$peripheral"
line() { bletool gatt "$peripheral/public" "$@" --adapter hci1 --json --connect-timeout "$(units 40)s"; }
check 'a line is sent' run write line write 6e400002-b5a3-f393-e0a9-e50e24dcca9e 6f7665722d7468652d6169720a
check 'the UART bridge prints the line' wait_for 5 grep -q over-the-air uart.out
check 'Ctrl-C ends the UART bridge' ends uart 'signal INT' INT
