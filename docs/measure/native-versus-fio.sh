#!/bin/sh
# Do iotax's engines and fio measure the same? Twelve jobs, each as two arms on the same directory:
# one driven by iotax, one by fio, in interleaved blocks. A table in Markdown on standard output.
#
#     docs/measure/native-versus-fio.sh DIRECTORY [OPTIONS OF iotax compare]
#
# DIRECTORY: on the disk to measure; 256 MiB are written in it and removed. Needs iotax, fio and jq.
set -eu

directory=${1:?usage: native-versus-fio.sh DIRECTORY [OPTIONS OF iotax compare]}
shift
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
trap 'exit 130' INT TERM

echo '| job | native, IOPS | fio, IOPS | native / fio | blocks | verdict at 10 % | CPU per I/O, native and fio |'
echo '|---|---|---|---|---|---|---|'
number=0
while read -r name engine rw bs depth direct; do
    number=$((number + 1))
    job="fio --name=$name --ioengine=$engine --rw=$rw --bs=$bs --iodepth=$depth --direct=$direct \
--size=256M --time_based --runtime=3s --ramp_time=1s"
    if ! iotax compare --format json --quiet --out "$results/$number" --margin 10% "$@" \
        --workload "$job" fio="$directory" native="$directory" --engine fio=fio \
        >"$results/$number.json" 2>"$results/$number.err" </dev/null; then
        echo "| $name | failed: $(head -n 1 "$results/$number.err") | | | | | |"
        continue
    fi
    jq -r --arg name "$name" '
        def arm(n): .arms[] | select(.name == n) | .iops;
        def cpu(n): .arms[] | select(.name == n) | .cpu_ns_per_io / 100 | round / 10;
        (.comparisons[] | select(.metric == "throughput")) as $c
        | def percent: if . == null then "-" else . * 100 | round | tostring end;
        "| \($name) | \(arm("native") | round) | \(arm("fio") | round) | "
        + (if $c.tax == null then "-" else
            "\((1 - $c.tax) * 100 | round) % [\(1 - $c.hi | percent), \(1 - $c.lo | percent)]" end)
        + " | \($c.blocks) | \($c.verdict) | \(cpu("native")) and \(cpu("fio")) µs |"' "$results/$number.json"
done <<'JOBS'
psync-randread psync randread 4k 1 1
psync-randwrite psync randwrite 4k 1 1
psync-read psync read 128k 1 1
psync-write psync write 128k 1 1
mmap-randread mmap randread 4k 1 0
mmap-randwrite mmap randwrite 4k 1 0
mmap-read mmap read 128k 1 0
mmap-write mmap write 128k 1 0
io_uring-randread-32 io_uring randread 4k 32 1
io_uring-randwrite-32 io_uring randwrite 4k 32 1
io_uring-read-1 io_uring read 128k 1 1
io_uring-write-1 io_uring write 128k 1 1
JOBS
