#!/bin/bash
# Packs what a guest with a Debian kernel runs first: busybox, the modules that mount this machine's
# root, and an init that does so and goes on with kernel.sh.
#   initramfs.sh MODULES RELEASE FILE   MODULES is the directory that holds RELEASE
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
modules=$1 release=$2 file=$3
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ ! -e "$modules/$release/modules.dep" ]; then
    echo "$modules/$release has no modules.dep; run depmod -b DIRECTORY $release" >&2
    exit 1
fi
# modprobe looks below lib/modules, and newer packages have usr/lib/modules.
mkdir -p "$work/kernel/lib"
ln -s "$modules" "$work/kernel/lib/modules"

tree=$work/tree
mkdir -p "$tree"/{bin,proc,host,memory,root,modules}
cp "$(command -v busybox)" "$tree/bin/busybox"
# `insmod` and a path for each module that is not built in, in the order in which they load.
modprobe -d "$work/kernel" -S "$release" -a --show-depends \
    virtio_pci virtio_blk 9p 9pnet_virtio overlay ext4 |
    awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
    while read -r module; do
        name=$(basename "$module")
        case $name in
        *.xz) xz -dc "$module" >"$tree/modules/${name%.xz}" ;;
        *) cp "$module" "$tree/modules/" ;;
        esac
        echo "/modules/${name%.xz}"
    done >"$tree/list"
cat >"$tree/init" <<INIT
#!/bin/busybox sh
/bin/busybox --install -s /bin
while read -r module; do insmod "\$module"; done </list
options=trans=virtio,version=9p2000.L,msize=262144
mount -t 9p -o \$options,cache=loose,ro host /host
mount -t tmpfs -o mode=755 tmpfs /memory
mkdir /memory/upper /memory/work
mount -t overlay -o lowerdir=/host,upperdir=/memory/upper,workdir=/memory/work overlay /root
mount -t tmpfs -o mode=755 tmpfs /root/run
mkdir -p /root/run/vm /root/lib/modules
mount -t 9p -o \$options,cache=loose,ro modules /root/lib/modules
mount -t 9p -o \$options share /root/run/vm
exec switch_root /root /bin/bash $here/kernel.sh
INIT
chmod +x "$tree/init"
(cd "$tree" && find . | cpio --create --format=newc --quiet | gzip -1) >"$file"
