# A kernel that hides its adapter behind private addresses does not hide bletool's advertisements. bletool warns about it.
# limit: 120
two_adapters
check 'an adapter that shows its identity advertises' run shown bletool advertise --adapter hci0 --name Shown \
    --duration 1s
check 'bletool prints no warning' not grep -q 'private addresses' shown.err

for setting in 'power off' 'privacy on' 'power on'; do
    # shellcheck disable=SC2086
    mgmt 0 $setting >/dev/null
done
background advertise bletool advertise --adapter hci0 --name Labtest --json
ready advertise "address == '$peripheral' and addressType == 'public'"
check 'the warning names the adapter and the address' \
    grep -q "the kernel hides hci0 behind private addresses, but .* show $peripheral" advertise.err
received >received.log
check 'the advertisement has that address' grep -q "^$peripheral .*name=Labtest" received.log
check 'Ctrl-C ends advertise by that signal' ends advertise 'signal INT' INT
