# Writes without response are sent before the kernel's link is closed, also if data are sent only at connection events.
# limit: 150
air_options=--connection-events
virtual_air
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
head -c 4000 /dev/urandom >sent
check '200 parts are written without response' run write bletool gatt C0:00:00:00:00:00/random write fff2 --from sent \
    --without-response --chunk 20 --adapter hci1 --json --connect-timeout "$(units 40)s"
check '4000 octets are reported as written' ndjson write.out "event == 'written' and octets == 4000"
hex() { od -An -v -tx1 | tr -d ' \n'; }
arrived() {
    sed -n 's/.*"event":"write".*"value":"\([0-9a-f]*\)".*/\1/p' serve.out | tr -d '\n' >arrived
    wc -c arrived
    hex <sent | cmp - arrived
}
check 'all parts arrive in order' wait_for 10 arrived
check 'Ctrl-C ends the server' ends serve 'signal INT' INT
end_virtual_air
