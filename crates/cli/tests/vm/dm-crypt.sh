# ext4 on dm-crypt with and without its work queues, and iotax on both.
# Prints each device's table (the key left out) and leaves iotax's JSON in default.json, bypassed.json.
set -eu
modprobe -a dm-crypt xts
both='--perf-no_read_workqueue --perf-no_write_workqueue'
for name in default bypassed; do
    flags=
    [ $name = bypassed ] && flags=$both
    # shellcheck disable=SC2086  # several words
    head -c 64 /dev/urandom | cryptsetup open --batch-mode --type plain --cipher aes-xts-plain64 \
        --key-size 512 --key-file - $flags "$DISK" $name
    dmsetup table | sed -E 's/[0-9a-f]{64,}/KEY/'
    mkfs.ext4 -q -F /dev/mapper/$name
    mkdir /media/$name
    mount /dev/mapper/$name /media/$name
    "$IOTAX" run randread-4k /media/$name --set size=64M --time 1s --ramp 0s -n 1 \
        --format json --out $name >$name.json
    ls -A /media/$name
    umount /media/$name
    cryptsetup close $name
done
