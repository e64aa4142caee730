# Reference case 1 in small: a search engine's disk on dm-crypt as it comes (its two work queues
# between file system and disk) against dm-crypt with both bypassed. `$BLOCKS` blocks of 13 s.
#
# Both lie on the same disk, a half each. What makes the difference is a disk kept busy by writers:
# their 4 MiB writes queue up in kcryptd, and the reads wait behind them. The data is larger than
# the guest's memory (256 MiB), and the reader's file is dropped from the cache before each trial.
set -eu
modprobe -a dm-crypt xts
half=$(($(cat "/sys/class/block/${DISK#/dev/}/size") / 2))
head -c 64 /dev/urandom >/run/key
crypt() { # NAME OFFSET [FLAG...]
    name=$1 offset=$2
    shift 2
    cryptsetup open --batch-mode --type plain --cipher aes-xts-plain64 --key-size 512 \
        --key-file /run/key --shared --offset "$offset" --size $half "$@" "$DISK" "$name"
    mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "/dev/mapper/$name"
    mkdir "/media/$name"
    mount "/dev/mapper/$name" "/media/$name"
}
crypt default 0
crypt bypassed $half --perf-no_read_workqueue --perf-no_write_workqueue
dmsetup table | sed -E 's/[0-9a-f]{64,}/KEY/'

"$IOTAX" compare --workload driver-searcher \
    as-it-comes=/media/default bypassed=/media/bypassed \
    --set download.threads=2 --set download.size=64M \
    --set mmap_read.threads=1 --set mmap_read.size=160M --set mmap_read.block-size=4k \
    --set mmap_read.start-delay=0s \
    --set index.versions=4 --set index.size=256k --set index.queries=20 --set index.query-size=4k \
    --ramp 1s --time 5s --max-blocks "$BLOCKS" --format json --out record >compare.json
"$IOTAX" report record >&2
