# Adapters that are added and removed while `bletool adapters --watch` runs.
background watch bletool adapters --watch --json
reported() { wait_for 15 ndjson watch.out "$@"; }

air
check 'new adapters are reported' reported "event == 'adapter' and change == 'added' and adapter == 'hci0'" \
    "change == 'added' and adapter == 'hci1'" "adapter == 'hci1' and state == 'down' and owner == 'kernel'"
adapter 0 central
own=$(address hci0)
check 'a change of power is reported' reported "change == 'changed' and adapter == 'hci0' and state == 'up' and 'le' in enabled"
background holder bletool scan --adapter user:hci0 --json
check 'a new owner of an adapter is reported' reported "change == 'changed' and adapter == 'hci0' and owner == 'user-channel'"
check 'Ctrl-C ends the holder of the user channel' ends holder 'signal INT' INT
finish btvirt KILL >/dev/null
check 'removed adapters are reported' reported "change == 'removed' and adapter == 'hci0'" \
    "change == 'removed' and adapter == 'hci1'"
air
again() { [ "$(grep -c '"change":"added","adapter":"hci0"' watch.out)" = 2 ]; }
check 'adapters that are added again are reported' wait_for 15 again
check 'an adapter that was added again is opened by its address' run again bletool scan --adapter "hci:$own" --duration 1s
check 'adapters --watch uses almost no processor time' idle watch
check 'Ctrl-C ends adapters --watch by that signal' ends watch 'signal INT' INT
check '--timeout ends adapters --watch: status 0' exits 0 bletool adapters --watch --timeout 1s
