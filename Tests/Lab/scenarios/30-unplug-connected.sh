# The adapters are removed while a client is subscribed to a server. Both report it and end, without much processor time.
two_adapters
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
background notify bletool gatt "$peripheral/public" notify fff3 --adapter hci1 --json
check 'notifications arrive' wait_for 20 ndjson notify.out "event == 'notification'"

unplugged='[37]'
unplug notify serve
