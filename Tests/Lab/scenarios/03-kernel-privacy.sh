# A kernel that hides its adapter behind private addresses does not hide what bletool advertises, and bletool says so.
# limit: 120
two_adapters
check 'nothing is said of an adapter that shows its identity' run shown bletool advertise --adapter hci0 --name Shown \
    --duration 1s
check 'no warning' not grep -q 'private addresses' shown.err

for setting in 'power off' 'privacy on' 'power on'; do
    # shellcheck disable=SC2086
    mgmt 0 $setting >/dev/null
done
background advertise bletool advertise --adapter hci0 --name Labtest --json
ready advertise "address == '$peripheral' and addressType == 'public'"
check 'the warning names the adapter and the address' \
    grep -q "the kernel hides hci0 behind private addresses, but .* show $peripheral" advertise.err
received >received.log
check 'that address is on the air' grep -q "^$peripheral .*name=Labtest" received.log
check 'Ctrl-C ends it by that signal' ends advertise 'signal INT' INT
