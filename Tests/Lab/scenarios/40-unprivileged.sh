# A user without capabilities gets the name of the missing one and the command that grants it; with it, the tool works.
two_adapters
mgmt 0 add-adv -c -u 180d 1 >/dev/null
# The build folder may be closed to others.
cp /usr/local/bin/bletool "$here/serve.yaml" /scratch/

nobody() { HOME=/scratch setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"; }
allowed() { HOME=/scratch setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$1" --ambient-caps="$1" "${@:2}"; }

check 'scan as nobody: status 4' exits 4 nobody /scratch/bletool scan --adapter hci1 --timeout 5s
cp check.log nobody.log
check 'it names the capability' grep -qi 'cap_net_raw' nobody.log
check 'it names the command that gives it' grep -q 'setcap' nobody.log
nobody /scratch/bletool scan --adapter hci1 --timeout 5s --json >nobody.out
check 'with --json the last line says so too' ndjson nobody.out "event == 'error' and code == 4"
check 'adapters works for all users' output "$peripheral" nobody /scratch/bletool adapters
check 'with both capabilities scan works' run scan allowed +net_raw,+net_admin \
    /scratch/bletool scan --adapter hci1 --json --count 1 --timeout "$(units 40)s"
check 'capture as nobody: status 4' exits 4 nobody /scratch/bletool capture /scratch/nobody.btsnoop --adapter hci1
cp check.log capture.log
check 'it names the capability, too' grep -qi 'cap_net_raw' capture.log
mgmt 1 power off >/dev/null
check 'an adapter that is off, without the right to switch it on: status 4' exits 4 allowed +net_raw \
    /scratch/bletool scan --adapter hci1 --timeout 5s
cp check.log power.log
check 'it names that capability' grep -qi 'cap_net_admin' power.log
check 'with the right it is switched on, and off again' run on allowed +net_raw,+net_admin \
    /scratch/bletool scan --adapter hci1 --duration 1s
check 'as it was found' not output 'current settings:.* powered' mgmt 1 info

# What each adapter and each command needs, and that the message names it.
mgmt 1 power on >/dev/null
check 'serve as nobody: status 4' exits 4 nobody /scratch/bletool serve /scratch/serve.yaml --adapter hci1
cp check.log serve.log
check 'it names the capability for advertising' grep -qi 'cap_net_raw' serve.log
# The kernel's listener needs no capability, but what a host must know of the controller and of its links does.
check 'serve without advertising as nobody: status 4' exits 4 nobody \
    /scratch/bletool serve /scratch/serve.yaml --adapter hci0 --no-advertise
check 'advertise as nobody: status 4' exits 4 nobody /scratch/bletool advertise --adapter hci1 --name Lamp
mgmt 1 power off >/dev/null
check 'the user channel as nobody: status 4' exits 4 nobody \
    /scratch/bletool scan --adapter user:hci1 --timeout 5s
cp check.log user.log
check 'it names the capability for the user channel' grep -qi 'cap_net_admin' user.log
check 'with that capability the user channel opens' run user allowed +net_admin \
    /scratch/bletool scan --adapter user:hci1 --duration 1s
