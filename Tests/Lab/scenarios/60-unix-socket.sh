# A controller behind a Unix socket (H4), on the air of the kernel's: btvirt serves it.
air -s
adapter 1 central
background serve bletool serve "$here/serve.yaml" --adapter unix:/tmp/bt-server-bredrle --json
ready serve
peripheral=$(grep -o '"address":"[^"]*"' serve.out | head -1 | cut -d'"' -f4)
kind=$(grep -o '"addressType":"[^"]*"' serve.out | head -1 | cut -d'"' -f4)
heard >heard.log
check 'it is on the air' grep -q "^$peripheral name=Lab" heard.log
check 'gatttool reads' output '66 72 6f 6d 20 62 6c 65 74 6f 6f 6c' \
    timeout 15 gatttool -i hci1 -b "$peripheral" -t "${kind:-public}" --char-read -a 0x0022
check 'Ctrl-C ends it by that signal' ends serve 'signal INT' INT
check 'it is off the air' not_heard "name=Lab"
