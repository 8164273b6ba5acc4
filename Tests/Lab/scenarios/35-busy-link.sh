# The kernel gives a link's ATT channel to one program. A second program gets an error until the first one has released it.
# limit: 120
two_adapters
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
background holder bletool gatt "$peripheral/public" notify fff3 --adapter hci1 --json
check 'the first program has the link' wait_for 30 ndjson holder.out "event == 'notification'"
check 'a second server on the adapter is refused: status 3' exits 3 bletool serve "$here/serve.yaml" --adapter hci0
cp check.log second.log
check 'the message names the process of the first server' grep -q "the server of process $(cat serve.pid)" second.log
check 'adapters succeeds' run links bletool adapters --json
check 'adapters lists the link' ndjson links.out "adapter == 'hci1' and links[0]['address'] == '$peripheral'"
gatt() { bletool gatt "$peripheral/public" "$@" --adapter hci1 --json --connect-timeout "$(units 40)s"; }
check 'a second client is refused: status 3' exits 3 gatt read fff1
cp check.log refused.log
check 'the message contains the reason' grep -q 'another program has the link' refused.log
check 'the first client continues' test ! -s holder.end
before=$(grep -c notification holder.out)
check 'the first client receives more values' wait_for 5 at_least $((before + 2)) notification holder.out
check 'Ctrl-C ends the first client' ends holder 'signal INT' INT
wait_for 10 unlinked
check 'a read succeeds after that' run read gatt read fff1
check 'Ctrl-C ends the server' ends serve 'signal INT' INT
