#!/usr/bin/env bash
# nfs-row.sh IOTAX: runs the README's row about NFS and Kerberos in a User Mode Linux guest with a file
# server, a realm and a client (tests/vm), and writes the output to docs/examples/readme/matrix.txt.
#
# In the guest, the server is called nas, as in the row. The guest has one CPU for client, server and
# encryption, and its disk is in memory, so the figures are not those of a file server. Options after
# the row's command keep the run short.
# Needs linux.uml, cc, nfs-kernel-server, nfs-common, krb5-kdc, krb5-admin-server; takes five minutes.
set -euo pipefail
iotax=$(realpath "${1:?the program iotax}")
docs=$(realpath "$(dirname "$0")/..")
vm=$docs/../tests/vm
row="iotax compare -w git-status --matrix sec=sys,krb5,krb5p --matrix nconnect=1,4 'nfs(server=nas, export=/data)'"
options='--set files=1000 --time 2s --ramp 500ms --quick --max-blocks 12'
share=$(mktemp -d)
load=$(cut -d' ' -f1 /proc/loadavg)
trap 'rm -rf "$share"' EXIT

truncate -s 512M "$share/disk"
printf "IOTAX='%s'\nDISK=/dev/ubda\n" "$iotax" >"$share/env"
{
    sed 's/^server=.*/server=nas.vm.test/; s/localhost\\n/nas localhost\\n/' "$vm/nfs.sh"
    cat <<GUEST
mkdir /srv/nfs/data
chmod 1777 /srv/nfs/data
iotax() { "\$IOTAX" "\$@"; }
uname -r | cut -d- -f1 >kernel
code=0
$row $options >row 2>&1 || code=\$?
echo "[exit code \$code]" >>row
GUEST
} >"$share/script"
# As in tests/vm: User Mode Linux saves less of the CPU's state than newer CPUs have.
cc -shared -fPIC -O2 -o "$share/whole_state.so" "$vm/whole_state.c"
setpriv --pdeathsig TERM timeout --kill-after=5 1845 env "LD_PRELOAD=$share/whole_state.so" linux.uml mem=512M rootfstype=hostfs \
    rootflags=/ ro quiet con=null con0=null,fd:1 "ubd0=$share/disk" "uml_dir=$share/" \
    "init=$vm/init.sh" "VM_SHARE=$share" VM_SECONDS=1800 </dev/null >"$share/console" 2>&1 || :
if [ "$(cat "$share/status" 2>/dev/null)" != 0 ]; then
    cat "$share/console" "$share/stderr" >&2
    exit 1
fi
{
    echo "# $(date -u +%F), User Mode Linux guest with kernel $(cat "$share/kernel"), one CPU and a disk in memory,"
    echo "# on a machine with a load average of $load. Repeat it with docs/measure/nfs-row.sh."
    echo "# The guest is both client and server, so the figures are not those of a file server."
    echo "# To save time, these options were added: $options"
    echo
    echo "# $row"
    cat "$share/row"
} >"$docs/examples/readme/matrix.txt"
tail -n 1 "$share/row" >&2
