#!/bin/bash
# Process 1 of a KernelVm, once its root is this machine's under an overlay in
# memory. /run/vm is shared with this machine: it holds `script` and `env`; it receives `stdout`,
# `stderr`, `dmesg` and, last, `status`. The kernel command line hands over VM_SECONDS, after which
# the script is ended.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C

power_off() {
    sync
    echo o >/proc/sysrq-trigger
    sleep 60
}
trap power_off EXIT

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /run/lock
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t cgroup2 cgroup2 /sys/fs/cgroup
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
: >/etc/fstab
hostname vm
ip link set lo up 2>/dev/null
cd /run/vm || exit
set -a
. ./env
set +a
timeout --kill-after=5 "${VM_SECONDS:-600}" bash ./script >stdout 2>stderr </dev/null
code=$?
dmesg >dmesg
sync
# Renamed into place, so that a status is never half there.
echo $code >status.new && mv status.new status
