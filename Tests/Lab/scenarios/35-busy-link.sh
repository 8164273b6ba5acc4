# The kernel gives a link's ATT channel to one program; a second program gets an error, and the channel when the first is done.
# limit: 120
two_adapters
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
background holder bletool gatt "$peripheral/public" notify fff3 --adapter hci1 --json
check 'one has the link' wait_for 30 ndjson holder.out "event == 'notification'"
check 'a second server on the adapter is refused: status 3' exits 3 bletool serve "$here/serve.yaml" --adapter hci0
cp check.log second.log
check 'and names the process of the first' grep -q "the server of process $(cat serve.pid)" second.log
check 'the adapter has the link in the list' run links bletool adapters --json
check 'to the device of that' ndjson links.out "adapter == 'hci1' and links[0]['address'] == '$peripheral'"
gatt() { bletool gatt "$peripheral/public" "$@" --adapter hci1 --json --connect-timeout "$(units 40)s"; }
check 'another one is refused: status 3' exits 3 gatt read fff1
cp check.log refused.log
check 'and gives the reason' grep -q 'another program has the link' refused.log
check 'the first one notices nothing' test ! -s holder.end
before=$(grep -c notification holder.out)
check 'it goes on' wait_for 5 at_least $((before + 2)) notification holder.out
check 'Ctrl-C ends it' ends holder 'signal INT' INT
wait_for 10 unlinked
check 'now it is free' run read gatt read fff1
check 'Ctrl-C ends the server' ends serve 'signal INT' INT
