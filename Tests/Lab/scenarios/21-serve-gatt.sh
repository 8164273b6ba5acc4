# `bletool gatt` on one kernel adapter, `bletool serve` on the other.
# limit: 120
two_adapters
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
. "$here/gatt-checks.sh"

# The kernel connects by a scan of its own, which can lose the only report of the air as in `mgmt_finds`.
check 'a read by name instead of address succeeds' wait_for 30 run read \
    bletool gatt name:Lab read fff1 --adapter hci1 --json --connect-timeout "$(units 40)s"

check 'a read with a recording succeeds' bletool gatt "$peripheral/public" read fff1 --adapter hci1 --capture read.btsnoop
check 'the recording contains the value from the kernel' grep -qa 'from bletool' read.btsnoop
