# Without capabilities, the error names the missing capability and the command that grants it. With it, the tool works.
two_adapters
mgmt 0 add-adv -c -u 180d 1 >/dev/null
# Other users may have no access to the build folder.
cp /usr/local/bin/bletool "$here/serve.yaml" /scratch/

nobody() { HOME=/scratch setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"; }
allowed() { HOME=/scratch setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$1" --ambient-caps="$1" "${@:2}"; }

check 'scan as the user nobody: status 4' exits 4 nobody /scratch/bletool scan --adapter hci1 --timeout 5s
cp check.log nobody.log
check 'the message names the capability' grep -qi 'cap_net_raw' nobody.log
check 'the message names the command that grants it' grep -q 'setcap' nobody.log
nobody /scratch/bletool scan --adapter hci1 --timeout 5s --json >nobody.out
check 'with --json the last line is the error' ndjson nobody.out "event == 'error' and code == 4"
check 'adapters works for all users' output "$peripheral" nobody /scratch/bletool adapters
check 'with both capabilities scan works' run scan allowed +net_raw,+net_admin \
    /scratch/bletool scan --adapter hci1 --json --count 1 --timeout "$(units 40)s"
check 'capture as the user nobody: status 4' exits 4 nobody /scratch/bletool capture /scratch/nobody.btsnoop --adapter hci1
cp check.log capture.log
check 'the message of capture names the capability' grep -qi 'cap_net_raw' capture.log
mgmt 1 power off >/dev/null
check 'an adapter that is off, without the capability to switch it on: status 4' exits 4 allowed +net_raw \
    /scratch/bletool scan --adapter hci1 --timeout 5s
cp check.log power.log
check 'the message names that capability' grep -qi 'cap_net_admin' power.log
check 'with the capability the adapter is switched on for the scan' run on allowed +net_raw,+net_admin \
    /scratch/bletool scan --adapter hci1 --duration 1s
check 'the adapter is switched off after the scan' not output 'current settings:.* powered' mgmt 1 info

# The capabilities that each adapter and each command needs, and the messages that name them.
mgmt 1 power on >/dev/null
check 'serve as the user nobody: status 4' exits 4 nobody /scratch/bletool serve /scratch/serve.yaml --adapter hci1
cp check.log serve.log
check 'the message names the capability for advertising' grep -qi 'cap_net_raw' serve.log
# A listening socket of the kernel needs no capability, but the host's information about the controller and its links does.
check 'serve without advertising as the user nobody: status 4' exits 4 nobody \
    /scratch/bletool serve /scratch/serve.yaml --adapter hci0 --no-advertise
check 'advertise as the user nobody: status 4' exits 4 nobody /scratch/bletool advertise --adapter hci1 --name Lamp
mgmt 1 power off >/dev/null
check 'the user channel as the user nobody: status 4' exits 4 nobody \
    /scratch/bletool scan --adapter user:hci1 --timeout 5s
cp check.log user.log
check 'the message names the capability for the user channel' grep -qi 'cap_net_admin' user.log
check 'with that capability the user channel opens' run user allowed +net_admin \
    /scratch/bletool scan --adapter user:hci1 --duration 1s
