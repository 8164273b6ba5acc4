# A periodic train: the kernel keeps its events for itself, so it is followed through the user channel alone.
our_air
background train bletool advertise --adapter unix:/scratch/air --name Train --periodic 100ms \
    --periodic-service-data 181a:0102 --sid 6 --json
ready train
check 'on a kernel adapter that is refused' exits 3 bletool sync name:Train --adapter hci1
cp check.log refused.log
check 'and the hint names the user channel' grep -q 'hint: .*user:hci' refused.log
mgmt 1 power off >/dev/null
check 'through the user channel it is followed' run sync bletool sync name:Train --adapter user:hci1 --count 2 --json \
    --timeout "$(units 20)s"
check 'with its data' ndjson sync.out "event == 'periodic' and data == '05161a180102'"
check 'Ctrl-C ends it by that signal' ends train 'signal INT' INT
our_air_ends
