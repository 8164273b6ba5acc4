# `bletool scan` receives an advertiser of the kernel, alone and beside other scanners.
# limit: 120
two_adapters
mgmt 0 name Reference >/dev/null
mgmt 0 add-adv -c -u 180d -n 1 >/dev/null

scan() { bletool scan --adapter hci1 --json "$@"; }

check 'a scan by name ends with the first match' run scan scan --count 1 --name 'Ref*' --timeout "$(units 40)s"
check 'the advertisement is complete' ndjson scan.out "
    event == 'advertisement' and address == '$peripheral' and addressType == 'public' and kind == 'public'
    and name == 'Reference' and nameComplete and services == ['180d'] and connectable and scannable and legacy
    and primaryPhy == '1m' and isinstance(data, str)"
check 'every documented key is present' ndjson scan.out "all(key in line for key in (
    'event address addressType kind identity rssi connectable scannable scanResponse legacy primaryPhy '
    'secondaryPhy sid txPower name nameComplete services solicited manufacturer serviceData appearance '
    'flags data time').split())"
check 'an unknown RSSI is null' ndjson scan.out 'rssi is None'
check 'a scan by service finds the device' run scan scan --count 1 --service 180d --timeout "$(units 40)s"
check 'a scan without a match: status 2' exits 2 scan --count 1 --name Absent --timeout 2s
check 'a scan with a duration: status 0' exits 0 scan --duration 2s
check 'a scan receives devices that earlier scans have received' run scan scan --count 1 --address "$peripheral" --timeout "$(units 40)s"

# The controller reports to a running scan only advertisers that start later.
mgmt 0 rm-adv 1 >/dev/null
background find btmgmt --index 1 find -l
background first bletool scan --adapter hci1 --json --name Reference --duration 12s
background second bletool scan --adapter hci1 --json --name Reference --duration 12s
sleep 3
mgmt 0 add-adv -c -u 180d -n 1 >/dev/null
check 'the first scan receives the advertiser' wait_for 15 ndjson first.out "name == 'Reference'"
check 'the second scan receives the advertiser' wait_for 15 ndjson second.out "name == 'Reference'"
check 'the first scan ends with status 0' ends first 'exit 0'
check 'the second scan ends with status 0' ends second 'exit 0'

background scan bletool scan --adapter hci1 --json
sleep 2
check 'Ctrl-C ends scan by that signal' ends scan 'signal INT' INT
background scan bletool scan --adapter hci1 --json
sleep 2
check 'SIGTERM ends scan by that signal' ends scan 'signal TERM' TERM
