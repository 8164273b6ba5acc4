# `bletool gatt` on one kernel adapter, `bletool serve` on the other.
# limit: 120
two_adapters
background serve bletool serve "$here/serve.yaml" --adapter hci0 --json
ready serve
. "$here/gatt-checks.sh"

# The kernel connects by a scan of its own, which may lose the air's only report as in `mgmt_finds`.
check 'a name instead of an address' wait_for 30 run read \
    bletool gatt name:Lab read fff1 --adapter hci1 --json --connect-timeout "$(units 40)s"

check 'a recording' bletool gatt "$peripheral/public" read fff1 --adapter hci1 --capture read.btsnoop
check 'it has what the kernel received for us' grep -qa 'from bletool' read.btsnoop
