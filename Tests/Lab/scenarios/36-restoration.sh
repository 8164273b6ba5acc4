# `serve --restoring` is killed in the middle of its work, and comes back with what had been written.
# limit: 150
two_adapters
serve() {
    background serve bletool serve "$here/serve.yaml" --adapter hci0 --restoring lab --state-dir /scratch/state --json
    ready serve
}
gatt() { bletool gatt "$peripheral/public" "$@" --adapter hci1 --json --connect-timeout "$(units 40)s"; }

serve
check 'a value is written' run write gatt write fff2 0a0b0c
for life in second third; do
    check 'SIGKILL ends the server' ends serve 'signal KILL' KILL
    # The kernel's link ends two seconds later.
    wait_for 10 unlinked
    serve
    check "its $life life is on the air, with the value" run read gatt read fff2
    check 'that was written last' ndjson read.out "value == '0a0b0c'"
done
check 'what was never written is as the file says' run read gatt read fff1
check 'that is' ndjson read.out "bytes.fromhex(value) == b'from bletool'"
check 'Ctrl-C ends it' ends serve 'signal INT' INT
