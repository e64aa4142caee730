# Layers of other kinds: md RAID 5 (made through sysfs, so that no mdadm is needed), RAID 5 of device
# mapper, a file system without rules, NFS through a process on this machine. To be preceded by nfs.sh.
# Leaves
#   root.json     the machine as root sees it
#   text          what the doctor says
modprobe -a loop md-mod raid456 dm-raid minix
legs() {
    local n
    for n in 0 1 2; do
        truncate -s 32M "/run/$1$n"
        losetup --find --show "/run/$1$n"
    done
}
echo md_test >/sys/module/md_mod/parameters/new_array
md=/sys/block/md_test/md
echo none >$md/metadata_version
echo raid5 >$md/level
echo 65536 >$md/chunk_size
echo 2 >$md/layout
echo 3 >$md/raid_disks
echo 32768 >$md/component_size
slot=0
for leg in $(legs md); do
    cat "/sys/block/${leg#/dev/}/dev" >$md/new_dev
    echo $slot >"$md/dev-${leg#/dev/}/slot"
    slot=$((slot + 1))
done
echo active >$md/array_state
number=$(cat /sys/block/md_test/dev)
[ -b /dev/md_test ] || mknod /dev/md_test b "${number%:*}" "${number#*:}"

table="raid raid5_ls 3 128 region_size 1024 3"
for leg in $(legs dm); do table="$table - $leg"; done
dmsetup create legs --table "0 131072 $table"

truncate -s 8M /run/minix
mkfs.minix /run/minix >/dev/null
mkdir /media/minix /media/p
mount -o loop /run/minix /media/minix

# What stands between the mount and the server: bytes go both ways, and nothing else happens.
cat >/run/proxy.py <<'PROXY'
import socket, threading
def pump(a, b):
    while data := a.recv(65536):
        b.sendall(data)
server = socket.create_server(("127.0.0.1", 20385))
open("/run/proxy.ready", "w").close()
while True:
    near, _ = server.accept()
    far = socket.create_connection(("127.0.0.1", 2049))
    for pair in (near, far), (far, near):
        threading.Thread(target=pump, args=pair, daemon=True).start()
PROXY
python3 /run/proxy.py &
until [ -e /run/proxy.ready ]; do sleep 0.1; done
mount -t nfs4 -o vers=4.1,sec=sys,port=20385 127.0.0.1:/export /media/p
head -c 1M /dev/zero >/media/p/file

paths=(/dev/md_test /dev/mapper/legs /media/minix /media/p)
# The doctor gives programs a second; a guest beside others may need several tries.
until grep -q raid5_ls root.json && grep -q '"interface": *"lo"' root.json; do
    rm -f root.json
    "$IOTAX" doctor --no-metadata --no-redact --save root.json "${paths[@]}" >text
done 2>/dev/null
kill %1
