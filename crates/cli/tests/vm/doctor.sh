# Layers of many kinds, looked at by root and by another user. To be preceded by nfs.sh. Leaves
#   root.json     the machine as root sees it, from a group with limits
#   nobody.json   what is said to another user
#   tables        device mapper's tables before and after
mkdir /media/n /media/c
mount -t nfs4 -o vers=4.1,nconnect=2,sec=krb5p 127.0.0.1:/export /media/n
head -c 1M /dev/zero >/media/n/file

# ext4 on all of a plain dm-crypt, whose key stands in the table, on a loop device over a file.
modprobe -a dm-crypt xts
truncate -s 32M /run/image
looped=$(losetup --find --show /run/image)
printf '%064d' 7 >/run/key
cryptsetup open --type plain --cipher aes-xts-plain64 --key-size 512 --key-file /run/key \
    --sector-size 4096 --allow-discards --perf-no_read_workqueue "$looped" crypt
sectors=$(blockdev --getsz /dev/mapper/crypt)
dmsetup create whole --table "0 $sectors linear /dev/mapper/crypt 0"
mkfs.ext4 -q -O quota /dev/mapper/whole
mount -o noatime /dev/mapper/whole /media/c

mount -t cgroup2 none /sys/fs/cgroup
echo +io +memory >/sys/fs/cgroup/cgroup.subtree_control
lone=/sys/fs/cgroup/lone
mkdir $lone
echo 300M >$lone/memory.max
echo "$(cat "/sys/block/${looped#/dev/}/dev") riops=1000" >$lone/io.max

doctor() { "$IOTAX" doctor --no-metadata "$@"; }
dmsetup table --showkeys >tables
dmsetup table --showkeys | grep -q 3030303030303030303030 || { echo "no key in the table" >&2; exit 1; }
# The doctor gives programs a second and disks less, and says what did not answer. A guest beside
# others may not keep that: it is asked again until all have.
look() { (echo 0 >$lone/cgroup.procs && doctor --no-redact --save root.json /media/n/file /media/c /); }
has_answered() {
    local what
    for what in '"cipher"' '"version": ?"1\.' '"mtu_bytes": ?[0-9]' has_journal; do
        grep -Eq "$what" root.json || return 1
    done
}
look
until has_answered; do
    rm root.json
    look
done
setpriv --reuid 65534 --regid 65534 --clear-groups "$IOTAX" doctor --no-metadata --format json \
    /media/c >nobody.json
dmsetup table --showkeys | cmp - tables
