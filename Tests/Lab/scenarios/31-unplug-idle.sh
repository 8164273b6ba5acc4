# The adapters are removed while there is no link.
# limit: 120
two_adapters
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
background advertise bletool advertise --adapter hci0 --service 180d --json
background scan bletool scan --adapter hci1 --json
ready serve
ready advertise
wait_for 15 ndjson scan.out "event == 'advertisement'" || sleep 2

unplugged=3
unplug serve advertise scan
check 'a scan without an adapter: status 3' exits 3 bletool scan --timeout 2s
check 'the message suggests a virtual adapter' output '--adapter virtual' bletool scan --timeout 2s
