# Reference case 1 in small: a search engine's disk on dm-crypt as it comes (its two work queues
# between file system and disk) against dm-crypt with both bypassed. `$BLOCKS` blocks of 13 s.
#
# What makes the difference is a disk kept busy by writers: their 4 MiB writes queue up in kcryptd,
# and the reads wait behind them. Hence the job as published: nothing holds its writers back. The data
# is larger than the guest's memory (256 MiB), and the reader's file is dropped from the cache before
# each trial.
mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0,lazy_journal_init=0 "$DISK"
mount "$DISK" /mnt
# The record says where it was made, by what command.
hostname lab
ln -sf "$IOTAX" /usr/local/bin/iotax
PATH=/usr/local/bin:$PATH
here=$PWD
cd /mnt
traces /mnt >/run/before
iotax compare --workload driver-searcher-published \
    as-it-comes='file(size=400M) + dmcrypt + ext4' \
    bypassed='file(size=400M) + dmcrypt(no_read_workqueue, no_write_workqueue) + ext4' \
    --set download.threads=2 --set download.size=64M \
    --set mmap_read.threads=1 --set mmap_read.size=160M --set mmap_read.block-size=4k \
    --set mmap_read.start-delay=0s \
    --set index.versions=4 --set index.size=256k --set index.queries=20 --set index.query-size=4k \
    --ramp 1s --time 5s --max-blocks "$BLOCKS" --out record >"$here/compare.txt"
cat "$here/compare.txt" >&2
iotax report record --format json >"$here/compare.json"
mv record "$here/record"
nothing_left /run/before /mnt
