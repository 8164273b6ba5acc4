# `bletool scan` receives an advertiser of the kernel's, alone and next to other scanners.
# limit: 120
two_adapters
mgmt 0 name Reference >/dev/null
mgmt 0 add-adv -c -u 180d -n 1 >/dev/null

scan() { bletool scan --adapter hci1 --json "$@"; }

check 'a scan by name ends with the first find' run scan scan --count 1 --name 'Ref*' --timeout "$(units 40)s"
check 'the advertisement is complete' ndjson scan.out "
    event == 'advertisement' and address == '$peripheral' and addressType == 'public' and kind == 'public'
    and name == 'Reference' and nameComplete and services == ['180d'] and connectable and scannable and legacy
    and primaryPhy == '1m' and isinstance(data, str)"
check 'every key of the contract is there' ndjson scan.out "all(key in line for key in (
    'event address addressType kind identity rssi connectable scannable scanResponse legacy primaryPhy '
    'secondaryPhy sid txPower name nameComplete services solicited manufacturer serviceData appearance '
    'flags data time').split())"
check 'no RSSI is null' ndjson scan.out 'rssi is None'
check 'a scan by service' run scan scan --count 1 --service 180d --timeout "$(units 40)s"
check 'a find that does not come: status 2' exits 2 scan --count 1 --name Absent --timeout 2s
check 'a scan that has had its time: status 0' exits 0 scan --duration 2s
check 'a scan receives what scans before have received' run scan scan --count 1 --address "$peripheral" --timeout "$(units 40)s"

# The controller reports to a scan that runs only what starts now.
mgmt 0 rm-adv 1 >/dev/null
background find btmgmt --index 1 find -l
background first bletool scan --adapter hci1 --json --name Reference --duration 12s
background second bletool scan --adapter hci1 --json --name Reference --duration 12s
sleep 3
mgmt 0 add-adv -c -u 180d -n 1 >/dev/null
check 'one scan receives it' wait_for 15 ndjson first.out "name == 'Reference'"
check 'the other too' wait_for 15 ndjson second.out "name == 'Reference'"
check 'the first ends well' ends first 'exit 0'
check 'the second ends well' ends second 'exit 0'

background scan bletool scan --adapter hci1 --json
sleep 2
check 'Ctrl-C ends it by that signal' ends scan 'signal INT' INT
background scan bletool scan --adapter hci1 --json
sleep 2
check 'SIGTERM too' ends scan 'signal TERM' TERM
