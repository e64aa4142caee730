#!/usr/bin/env bash
# The virtual disk over FUSE beside qemu-storage-daemon's FUSE export, on the same backing file:
#     docs/measure/fuse-versus-qemu.sh DIRECTORY [ROUNDS]
# In each round every contender is driven once per workload, in turn; medians of IOPS are printed.
# Needs root, fio, qemu-storage-daemon, jq, and iotax in the path.
set -euo pipefail
cd "$(mktemp -d -p "${1:?a directory on the storage to measure}")"
rounds=${2:-5}
trap 'iotax disk down ours >/dev/null || true; kill $daemons 2>/dev/null || true; wait; cd /; rm -rf "$OLDPWD"' EXIT
daemons=

# Filled: holes of a sparse file would be answered without the storage.
dd if=/dev/urandom of=backing bs=1M count=1024 conv=fsync status=none
mkdir ours
iotax disk up ours="file(path=$PWD/backing, size=1G)" >/dev/null
for aio in threads io_uring; do
    touch qemu-$aio
    qemu-storage-daemon \
        --blockdev "driver=file,node-name=f,filename=$PWD/backing,cache.direct=on,read-only=on,aio=$aio" \
        --export "type=fuse,id=e,node-name=f,mountpoint=$PWD/qemu-$aio" &
    daemons+=" $!"
    for _ in $(seq 50); do grep -q "$PWD/qemu-$aio" /proc/mounts && break || sleep 0.1; done
    grep -q "$PWD/qemu-$aio" /proc/mounts
done

drive() { # FILE fio options
    fio --name=x --filename="$1" --direct=1 --readonly --size=1G --time_based --runtime=2 \
        --ramp_time=0.5 --output-format=json "${@:2}" | jq '.jobs[0].read.iops'
}
median() { sort -n | awk '{ v[NR] = $1 } END { printf "%.0f", v[int((NR + 1) / 2)] }'; }

for round in $(seq "$rounds"); do
    for file in ours/disk qemu-threads qemu-io_uring; do
        name=${file%/disk}
        drive $file --rw=randread --bs=4k --ioengine=io_uring --iodepth=32 >>"$name.4k"
        drive $file --rw=read --bs=1M --ioengine=psync >>"$name.1M"
    done
done
echo '| server | 4 KiB random reads, depth 32, IOPS | 1 MiB sequential reads, IOPS |'
echo '|---|---|---|'
for name in ours qemu-threads qemu-io_uring; do
    echo "| $name | $(median <"$name.4k") | $(median <"$name.1M") |"
done
