# `bletool gatt` on a kernel adapter with a GATT server of bluetoothd.
# limit: 120
two_adapters
bluetoothd_server
. "$here/gatt-checks.sh"
check 'bluetoothd has received the write' grep -q '^fff2=010203' gatt-server.out
check 'the indications were confirmed' grep -q '^fff4 confirmed' gatt-server.out
