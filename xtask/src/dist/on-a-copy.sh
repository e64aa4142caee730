#!/bin/sh
# on-a-copy.sh FILE COMMAND...: runs the command, as root, in a copy of this machine's files that is
# gone afterwards: what it writes goes to memory. The file lies in /mnt there.
set -eu
if [ "${1-}" != --inside ]; then
    exec unshare --mount --propagation private sh "$0" --inside "$@"
fi
file=$2
shift 2
work=$(mktemp -d)
trap 'rmdir "$work"' EXIT
cp "$file" "$work.file"
mount -t tmpfs tmpfs "$work"
mkdir "$work/new" "$work/work" "$work/all" "$work/new/mnt"
mv "$work.file" "$work/new/mnt/$(basename "$file")"
mount -t overlay -o "lowerdir=/,upperdir=$work/new,workdir=$work/work" overlay "$work/all"
for directory in dev proc sys; do
    mount --rbind "/$directory" "$work/all/$directory"
done
status=0
chroot "$work/all" "$@" || status=$?
umount --recursive --lazy "$work"
exit $status
