# `serve --restoring` is killed while it runs, and restores the written values at the next start.
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
    check "the $life run is on the air" run read gatt read fff2
    check "the $life run has the value that was written last" ndjson read.out "value == '0a0b0c'"
done
check 'a value that was never written is read' run read gatt read fff1
check 'it is the value of the file' ndjson read.out "bytes.fromhex(value) == b'from bletool'"
check 'Ctrl-C ends the server' ends serve 'signal INT' INT
