# A periodic train: the kernel does not forward its events, so only the user channel can follow it.
virtual_air
background train bletool advertise --adapter unix:/scratch/air --name Train --periodic 100ms \
    --periodic-service-data 181a:0102 --sid 6 --json
ready train
check 'sync on a kernel adapter is refused: status 3' exits 3 bletool sync name:Train --adapter hci1
cp check.log refused.log
check 'the hint names the user channel' grep -q 'hint: .*user:hci' refused.log
mgmt 1 power off >/dev/null
check 'sync through the user channel succeeds' run sync bletool sync name:Train --adapter user:hci1 --count 2 --json \
    --timeout "$(units 20)s"
check 'sync prints the data of the train' ndjson sync.out "event == 'periodic' and data == '05161a180102'"
check 'Ctrl-C ends advertise by that signal' ends train 'signal INT' INT
end_virtual_air
