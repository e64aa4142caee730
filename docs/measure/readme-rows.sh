#!/bin/sh
# readme-rows.sh PACKAGE.deb [ROW...]: installs iotax on a new Debian system, runs the commands of the
# README's table there, and writes each output to docs/examples/readme/ROW.txt. With ROWs, it runs only
# these (`repro` needs `compare` or `gate` before it; `doctor`, `limits` and `fio` need `disk`).
#
# Run it as root, on a machine with mmdebstrap, /dev/fuse and loop devices. It takes about 15 minutes.
# The volumes are file systems in files on this machine's disk. For `limits`, it is a P10 on a
# Standard_DS1_v2, as `iotax disk up` simulates it. The NFS row needs a file server called nas;
# nfs-row.sh runs that row in a guest that has one.
set -eu

if [ "$1" != --inside ]; then
    # Mounts and processes go with the namespaces.
    exec unshare --mount --pid --uts --fork --kill-child --propagation private \
        sh "$0" --inside "$@"
fi
package=$(realpath "$2")
shift 2
wanted=" $* "
out=$(cd "$(dirname "$0")/.." && pwd)/examples/readme
hostname clean
place=$(mktemp -d)
root=$place/root
up=
trap 'leave' EXIT
leave() {
    if [ -n "$up" ]; then
        umount "$root/data" || :
        losetup --detach "$up" || :
        chroot "$root" iotax disk down --all || :
    fi
    for at in "$root"/mnt/a "$root"/mnt/b; do umount "$at" 2>/dev/null || :; done
    umount --recursive --lazy "$root" 2>/dev/null || :
    rm -rf --one-file-system "$place"
}

mmdebstrap --quiet --variant=apt bookworm "$root" >&2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
for at in sys dev; do mount --rbind "/$at" "$root/$at"; done
cp "$package" "$root/root/iotax.deb"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"; }
inside apt-get update -qq
began=$(date +%s)
inside apt-get install -y -qq --no-install-recommends /root/iotax.deb >&2
installed=$(($(date +%s) - began))
inside mkdir -p /mnt/x /mnt/a /mnt/b /data
mkdir -p "$out"
header() {
    cpus=$(nproc)
    kernel=$(uname -r | cut -d- -f1)
    echo "# $(date -u +%F), new Debian 12, $cpus CPUs, kernel $kernel, iotax from its .deb, load average"
    echo "# $(cut -d' ' -f1 /proc/loadavg) before the start. Repeat it with docs/measure/readme-rows.sh."
}
# row NAME [REMARK...] -- COMMAND: runs it in /root of the new machine.
row() {
    name=$1
    shift
    case "$wanted" in
    '  ' | *" $name "*) ;;
    *) return 0 ;;
    esac
    {
        header
        while [ "$1" != -- ]; do
            echo "# $1"
            shift
        done
        echo
        echo "# $2"
        code=0
        inside sh -c "cd /root && $2" 2>&1 || code=$?
        echo "[exit code $code]"
    } >"$out/$name.txt"
    # What follows the numbers of a kernel is the name of a build; and where files happened to lie.
    sed -i "s/$(uname -r)/$(uname -r | cut -d- -f1)/; s#$place/#/volumes/#" "$out/$name.txt"
    echo "$name: $(tail -n 1 "$out/$name.txt")" >&2
}

row check "From the .deb to this answer: the time below, and $installed s to install the package." -- \
    'iotax check /var/lib'

# The programs that the other rows use: the encryption of a hypervisor, file systems, FUSE, and fio.
inside apt-get install -y -qq --no-install-recommends qemu-system-common qemu-utils cryptsetup-bin \
    e2fsprogs fuse3 fio sysstat >&2

# Two volumes: file systems in files.
for volume in a b; do
    truncate -s 2G "$place/$volume.img"
    mkfs.ext4 -q -E lazy_itable_init=1,lazy_journal_init=1 "$place/$volume.img"
    loop=$(losetup --find --show --direct-io=on "$place/$volume.img")
    mount "$loop" "$root/mnt/$volume"
    # Once it is unmounted, the device goes.
    losetup --detach "$loop"
done

row disk -- 'iotax disk up --vm Standard_DS1_v2 --disk P10 /mnt/x'
if [ -e "$root/mnt/x/disk" ]; then
    up=$(losetup --find --show --direct-io=on "$root/mnt/x/disk")
    mkfs.ext4 -q -E nodiscard,lazy_itable_init=1,lazy_journal_init=1 "$up"
    mount "$up" "$root/data"
elif [ "$wanted" = '  ' ]; then
    echo "disk: no disk, which the rows doctor, limits and fio need" >&2
    exit 1
fi

row peel -- "iotax peel 'file(size=1G) + qemu-luks + qemu-luks + ext4'"
row compare '/mnt/a and /mnt/b are ext4 in two files on one disk.' -- \
    'iotax compare -w randread-4k a=/mnt/a b=/mnt/b'
row doctor '/data is ext4 on the disk of disk.txt.' -- 'iotax doctor /data'
row limits '/data is ext4 on the disk of disk.txt.' -- \
    'iotax limits --vm Standard_DS1_v2 --disk P10 /data'
row gate '/mnt/a and /mnt/b are ext4 in two files on one disk.' -- \
    "iotax compare -w randread-4k old=/mnt/a new=/mnt/b --fail-if 'slower by 5%'"
for run in ${up:+b1 a1 b2 a2 b3 a3}; do
    case $run in b*) volume=/mnt/a ;; *) volume=/data ;; esac
    inside fio --name=try --directory="$volume" --size=256M --rw=randread --bs=4k --iodepth=8 \
        --direct=1 --ioengine=libaio --runtime=5 --time_based --output-format=json \
        --output="/root/$run.json"
done
[ -z "$up" ] || row fio 'Six runs of fio, 5 s each: b*.json on /mnt/a, a*.json on /data (a P10, see disk.txt).' -- \
    'iotax compare before=b1.json,b2.json,b3.json after=a1.json,a2.json,a3.json'
record=$(inside sh -c 'cd /root && ls -d iotax-compare-* | head -n 1')
row repro -- "iotax repro $record && tar tzf iotax-repro-*.tar.gz"

nfs="iotax compare -w git-status --matrix sec=sys,krb5,krb5p --matrix nconnect=1,4 'nfs(server=nas, export=/data)'"
if grep -qw nfs /proc/filesystems && inside getent hosts nas >/dev/null; then
    row matrix -- "$nfs"
else
    echo "matrix: no file server called nas, or a kernel without NFS: docs/measure/nfs-row.sh has both" >&2
fi
