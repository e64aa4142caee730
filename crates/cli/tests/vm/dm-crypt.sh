# iotax's own dm-crypt, with each of its options, beside a dm-crypt of somebody else's on $DISK.
# To be preceded by traces.sh. Prints how a disk in use is refused, what the kernel's tables say
# (keys left out), and what undo removes. Leaves
#   theirs          a run in a directory on somebody else's dm-crypt
#   plain, luks2    a comparison of arms, one for each option
#   undone          how many kills left something to undo
modprobe -a dm-crypt xts

# Keeps what each call of cryptsetup gets: arguments, environment, standard input.
mkdir -m 700 /run/keys /run/calls
cryptsetup=$(command -v cryptsetup)
mv "$cryptsetup" "$cryptsetup.real"
cat >"$cryptsetup" <<WRAPPER
#!/bin/bash
cat /proc/\$\$/cmdline /proc/\$\$/environ >/run/calls/\$\$
cat >/run/keys/\$\$
exec "$cryptsetup.real" "\$@" </run/keys/\$\$
WRAPPER
chmod +x "$cryptsetup"

load='--set verify=true --set size=1M --ramp 0s'
refused() { # TARGET DEVICE
    "$IOTAX" run randwrite-4k "$1" --destroy "$2" --set size=2M 2>&1 && fail "not refused: $1"
    return 0
}

# --- a disk that is in use
head -c 64 /dev/urandom >/run/theirs
"$cryptsetup.real" open --batch-mode --type plain --cipher aes-xts-plain64 --key-size 512 \
    --key-file /run/theirs "$DISK" theirs
mkfs.ext4 -q -m 0 -E lazy_itable_init=0,lazy_journal_init=0 \
    -U 00000000-0000-4000-8000-000000000000 /dev/mapper/theirs
sync
sum=$(sha256sum <"$DISK")
echo "the disk below a mapping:"
refused "dev(path=$DISK) + ext4" "$DISK"
echo "the mapping, which has a file system:"
refused 'dev(path=/dev/mapper/theirs) + dmcrypt' /dev/mapper/theirs
[ "$(sha256sum <"$DISK")" = "$sum" ] || fail "the disk was written to"
mount /dev/mapper/theirs /mnt
echo "the mapping, mounted:"
refused 'dev(path=/dev/mapper/theirs) + dmcrypt' /dev/mapper/theirs
"$IOTAX" run randread-4k /mnt --set size=8M --time 1s --ramp 0s --out theirs >&2

# --- each option
# Without a stack, a peel takes the kernel's LUKS.
plan=$("$IOTAX" plan peel --dir /mnt 2>&1 || true)
[[ $plan == *'`file(size=1G) + luks + luks` encrypts'* ]] || fail "the default of a peel: $plan"

base='file(size=8M)'
declare -A layer=([plain]=dmcrypt [luks2]=luks)
mkdir /mnt/fast
traces /mnt >/run/before
are_up() { # NUMBER OF MAPPINGS
    local found=(/sys/block/dm-*)
    [ ${#found[@]} -eq "$1" ]
}
for format in plain luks2; do
    crypt=${layer[$format]}
    arms=("none=$base + $crypt + ext4")
    for option in no_read_workqueue no_write_workqueue same_cpu_crypt submit_from_crypt_cpus \
        sector_size=4096; do
        arms+=("${option%=*}=$base + $crypt($option) + ext4")
    done
    arms+=("twice=$base + $crypt + dmcrypt(key_size=256, no_read_workqueue) + ext4")
    # shellcheck disable=SC2086  # several words
    "$IOTAX" compare -w randwrite-4k "${arms[@]}" --dir /mnt/fast $load --time 1s \
        --max-blocks 1 --out $format >&2 &
    # With theirs, and the second one of `twice`.
    until_up $! are_up $((${#arms[@]} + 2))
    echo "$format:"
    dmsetup table | sed -nE 's/^iotax-[0-9a-f]*: //p' |
        sed -E 's/ (0{64,128}|:64:logon:cryptsetup:[^ ]*) / KEY /; s/ 7:[0-9]+ / LOOP /; s/ 25[0-9]:[0-9]+ / MAPPING /' | sort
    cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ /var/lib/iotax/undo/* 2>/dev/null \
        >/run/seen.$format || true
    wait $!
    nothing_left /run/before /mnt
done

# --- the keys
hex() { od -An -v -tx1 | tr -d ' \n'; }
find /run/keys -type f -empty -delete
echo "cryptsetup was given $(find /run/keys -type f | wc -l) keys"
for key in /run/keys/*; do
    # As it is, and as hexadecimal digits.
    echo "$(hex <"$key")"
    echo "$(hex <"$key" | hex)"
done >/run/patterns
holds_a_key() { cat "$@" | hex | grep -qFf /run/patterns; }
holds_a_key /run/keys/* || fail "a key is not found where it is"
holds_a_key /run/calls/* && fail "a key is among the arguments"
holds_a_key /run/seen.* && fail "a key is in a process list or the journal"
holds_a_key plain/* luks2/* stderr && fail "a key is in the results"

# --- killed
# shellcheck disable=SC2086
kill_after_tenths "3 4 5 6 7 8" /run/before /mnt \
    run randwrite-4k "$base + dmcrypt + ext4" --dir /mnt/fast $load --time 2s
echo "$undone" >undone

# A mapping that has no table yet is in no listing but device mapper's own.
mv "$cryptsetup" "$cryptsetup.keeps"
cat >"$cryptsetup" <<WRAPPER
#!/bin/bash
[ "\$1" = open ] || exec "$cryptsetup.real" "\$@"
dmsetup create "\${@: -1}" --notable && sleep 100
WRAPPER
chmod +x "$cryptsetup"
start "$IOTAX" run randwrite-4k "$base + dmcrypt + ext4" --dir /mnt/fast --set size=1M --out no-table
has_mapping() { dmsetup ls | grep -q ^iotax-; }
until_up $pid has_mapping
undo_killed /run/before /mnt
mv "$cryptsetup.real" "$cryptsetup"

# --- a mapping of no use to anybody
umount /mnt
dmsetup remove theirs
head -c 64M /dev/zero >"$DISK"
dmsetup create blank --table "0 131072 linear $DISK 0"
traces /mnt >/run/before
# shellcheck disable=SC2086
start "$IOTAX" run randwrite-4k 'dev(path=/dev/mapper/blank) + luks + ext4' \
    --destroy /dev/mapper/blank $load --time 60s --out blank
is_mounted() { [[ $(</proc/mounts) == *\ /var/lib/iotax/run/* ]]; }
until_up $pid is_mounted
undo_killed /run/before /mnt
if blkid -p /dev/mapper/blank; then fail "signatures are left"; fi
