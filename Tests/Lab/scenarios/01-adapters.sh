# `bletool adapters` lists the kernel's adapters.
two_adapters
mgmt 1 power off >/dev/null

check 'adapters succeeds' run adapters bletool adapters --json
check 'hci0 is up' ndjson adapters.out "adapter == 'hci0' and address == '$peripheral' and state == 'up'"
check 'hci1 is down' ndjson adapters.out "adapter == 'hci1' and address == '$central' and state == 'down'"
check 'the text output contains hci0' output "hci0 .*$peripheral" bletool adapters
