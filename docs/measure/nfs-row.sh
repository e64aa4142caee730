#!/usr/bin/env bash
# nfs-row.sh IOTAX: the row of the README's table about NFS and Kerberos, in a guest of User Mode Linux
# that has a file server, a realm and a client (tests/vm); keeps what it says in
# docs/examples/readme/matrix.txt.
#
# The server is called `nas` there, as in the row. The guest has one CPU, on which client, server and
# encryption take turns, and its disk is memory: the figures are nobody's file server's. Options that keep it to minutes follow the row's own words.
# Needs linux.uml, nfs-kernel-server, nfs-common, krb5-kdc, krb5-admin-server; about five minutes.
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
setpriv --pdeathsig TERM timeout --kill-after=5 1845 linux.uml mem=512M rootfstype=hostfs \
    rootflags=/ ro quiet con=null con0=null,fd:1 "ubd0=$share/disk" "uml_dir=$share/" \
    "init=$vm/init.sh" "VM_SHARE=$share" VM_SECONDS=1800 </dev/null >"$share/console" 2>&1 || :
if [ "$(cat "$share/status" 2>/dev/null)" != 0 ]; then
    cat "$share/console" "$share/stderr" >&2
    exit 1
fi
{
    echo "# $(date -u +%F), a guest of User Mode Linux with kernel $(cat "$share/kernel"), one CPU and a disk in"
    echo "# memory, on a machine with a load average of $load, by docs/measure/nfs-row.sh."
    echo "# Client and server are this one guest: the figures are nobody's file server's. In small:"
    echo "# $options follow the words of the row."
    echo
    echo "# $row"
    cat "$share/row"
} >"$docs/examples/readme/matrix.txt"
tail -n 1 "$share/row" >&2
