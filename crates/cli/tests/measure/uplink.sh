#!/bin/bash
# A network namespace of this process's own, joined to another one by an uplink of RATE each way. In the
# far one: an iotax peer, an sshd, and a disk over NBD, which is the file `disk` here. To be run in the
# directory that keeps what is made, under `unshare --net --mount`. Then runs its arguments, for whom
# ssh knows the far end as `far`; what it started ends with it.
set -eu -o pipefail
here=$PWD
near=10.77.0.1 far=10.77.0.2

mount --make-rprivate /
unshare --net sleep infinity &
host=$!
trap 'kill $(jobs -p)' EXIT
# As words, and no function: what is started in the background is to be the program itself.
at_far=(nsenter "--net=/proc/$host/ns/net")
until [ "$(readlink "/proc/$host/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done

ip link set lo up
ip link add near0 type veth peer name far0 netns "$host"
ip addr add $near/24 dev near0
ip link set near0 up
"${at_far[@]}" ip addr add $far/24 dev far0
"${at_far[@]}" ip link set far0 up
tc qdisc add dev near0 root tbf rate "$RATE" burst 128k latency 20ms
"${at_far[@]}" tc qdisc add dev far0 root tbf rate "$RATE" burst 128k latency 20ms

"${at_far[@]}" "$IOTAX" peer --listen $far:7474 --token-file token >peer.log &

ssh-keygen -q -t ed25519 -N '' -f host
ssh-keygen -q -t ed25519 -N '' -f user
echo "$far $(cut -d ' ' -f 1,2 host.pub)" >known_hosts
mkdir -p /run/sshd
"${at_far[@]}" "$(command -v sshd || echo /usr/sbin/sshd)" -D -e -f /dev/null -h "$here/host" \
    -o ListenAddress=$far -o PidFile=none -o UsePAM=no -o StrictModes=no \
    -o "AuthorizedKeysFile=$here/user.pub" -o "SetEnv=PATH=${IOTAX%/*}:/usr/bin:/bin" 2>sshd.log &
# ssh looks for a configuration in root's home, whatever HOME says.
ssh=$(command -v ssh)
mkdir bin
cat >bin/ssh <<WRAPPER
#!/bin/sh
exec $ssh -o HostName=$far -o HostKeyAlias=$far -o User=root -o IdentityFile=$here/user \
    -o UserKnownHostsFile=$here/known_hosts -F none "\$@"
WRAPPER
chmod +x bin/ssh

# Random, since NBD does not send zeros.
head -c 256M /dev/urandom >disk
"${at_far[@]}" qemu-storage-daemon --blockdev "driver=file,filename=$here/disk,node-name=file" \
    --nbd-server addr.type=inet,addr.host=$far,addr.port=10809 \
    --export type=nbd,id=export,node-name=file,name=disk &
touch remote-disk
server=server.type=inet,server.host=$far,server.port=10809
until "${at_far[@]}" ss -ltn | grep -q :10809; do sleep 0.05; done
qemu-storage-daemon --blockdev "driver=nbd,node-name=nbd,$server,export=disk,read-only=on" \
    --export "type=fuse,id=fuse,node-name=nbd,mountpoint=$here/remote-disk" &
until [ -s remote-disk ] && [ -s peer.log ] && grep -q listening sshd.log; do sleep 0.05; done

PATH=$here/bin:$PATH IOTAX_TOKEN_FILE=$here/token "$@"
