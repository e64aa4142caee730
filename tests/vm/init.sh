#!/bin/bash
# Process 1 of the guest. The kernel command line hands it, as environment:
#   VM_SHARE   a directory of the host: holds `script` and `env`; receives `stdout`, `stderr`,
#              `dmesg` and, last, `status`
#   VM_SECONDS the script is ended after so many seconds
#
# The guest's root is the host's, read-only, so that it has the host's programs and the iotax just
# built. An overlay in memory makes it writable for the guest alone: nothing reaches the host but
# what is written below VM_SHARE.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C

# Without `status` the harness shows the console, which is where these messages go.
give_up() { echo "guest: $*"; power_off; }
power_off() {
    sync
    [ -e /proc/sysrq-trigger ] || mount -t proc proc /proc
    echo o >/proc/sysrq-trigger
    sleep 60
}
trap power_off EXIT

mount -t proc proc /proc || give_up "no /proc"
kernel=$(uname -r)
modules=/usr/lib/uml/modules/$kernel
insmod "$modules/kernel/fs/overlayfs/overlay.ko" || give_up "no overlay module (is kmod installed?)"

new=/mnt/root
mount -t tmpfs -o mode=755 tmpfs /mnt && mkdir /mnt/upper /mnt/work $new || give_up "no tmpfs"
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work overlay $new ||
    give_up "no overlay over the host's root"
# The host's sockets and locks below /run are not the guest's; static mounts are not there either.
mount -t tmpfs -o mode=755 tmpfs $new/run
# Nor are the host's runs of iotax, which would look dead here.
mkdir -p $new/var/lib/iotax
mount -t tmpfs -o mode=700 tmpfs $new/var/lib/iotax
# The kernel mounts devtmpfs itself; `mount --move` complains although it moves it.
mount --move /dev $new/dev 2>/dev/null
mountpoint -q $new/dev || mount -t devtmpfs dev $new/dev || give_up "no /dev"
mkdir -p $new/run/old $new/run/lock $new/run/vm
# pivot_root and not chroot: the kernel starts modprobe and the NFS helpers in its own root.
pivot_root $new $new/run/old && cd / || give_up "pivot_root failed"
mount -t proc proc /proc
umount -l /run/old
hostname vm
mount -t sysfs sys /sys
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
: >/etc/fstab

mount -t hostfs none /run/vm -o "$VM_SHARE" || give_up "cannot mount $VM_SHARE"
cd /run/vm || give_up "cannot enter $VM_SHARE"

mkdir -p /usr/lib/modules && ln -sfn "$modules" "/usr/lib/modules/$kernel"
modprobe -aq loop fuse dm-mod || give_up "modprobe failed"
ip link set lo up 2>/dev/null

# No udev runs here: libdevmapper makes the nodes below /dev/mapper itself.
export DM_DISABLE_UDEV=1
set -a
. ./env
set +a
timeout --kill-after=5 "${VM_SECONDS:-600}" bash ./script >stdout 2>stderr </dev/null
code=$?
dmesg >dmesg
sync
# Renamed into place, so that a status is never half there.
echo $code >status.new && mv status.new status
