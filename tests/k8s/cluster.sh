#!/usr/bin/env bash
# A real Kubernetes on one machine without systemd, container registry or kernel modules.
# The control plane and every node live in their own network namespaces (a node also in
# its own mount, PID, UTS and IPC namespace), joined by a bridge:
#
#   netns k8s-cp  fab0 10.77.0.1/24   etcd, kube-apiserver, -controller-manager, -scheduler, DNS
#   netns k8s-nI  eth0 10.77.0.1I/24  containerd, kubelet, kube-proxy; pods 10.244.I.0/24
#
# The API server is also reachable from the host at https://127.0.0.1:$API_PORT (socat
# over a UNIX socket: nothing but loopback is opened on the host).
#
# Usage: cluster.sh start|stop|status|env      (as root)
#   NODES=2          nodes (0: API only)           PROXY_MODE=nftables|iptables|none
#   BIN=/tmp/k8s/bin (multi-call `kube`)       IMAGES="a.tar b.tar" to import on each node
#   RUN=/tmp/k8s/run state, logs, kubeconfig   API_PORT=6443
#   KUBELET_EXTRA='cpuManagerPolicy: static'   lines to add to each KubeletConfiguration
#   DEVICE_OWNERSHIP=true   whether raw volumes belong to the user of their pod
#   NODE_GRACE=50s   silence after which a node is NotReady
#   NO_IO_URING=n2   nodes whose pods may not use io_uring
#   KEEP_LOGS=1      with stop: keep the logs in $RUN.last
# What it needs, tests/k8s/build.sh installs and builds. Mounts that are there when it starts are
# seen by its nodes, those that are made later are not.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
export NODES=${NODES:-2} BIN=${BIN:-/tmp/k8s/bin} RUN=${RUN:-/tmp/k8s/run}
export PROXY_MODE=${PROXY_MODE:-nftables} API_PORT=${API_PORT:-6443}
export KUBELET_EXTRA=${KUBELET_EXTRA:-} NODE_GRACE=${NODE_GRACE:-50s} NO_IO_URING=${NO_IO_URING:-}
export IMAGES=${IMAGES:-/tmp/k8s/images/pause.tar}
PKI=$RUN/pki LOG=$RUN/log PIDS=$RUN/pids
KUBECONFIG_HOST=$RUN/admin.kubeconfig
# every mounted cgroup hierarchy (the kubelet also wants the named one, "systemd"; runc makes
# directories in the empty cgroup2 one of a hybrid set-up)
CGROUPS=$(findmnt -n -t cgroup,cgroup2 -o TARGET)

say() { printf '[%6.1fs] %s\n' "$(bc -l <<<"$(date +%s.%N) - $T0" 2>/dev/null || echo 0)" "$*"; }
in_net() { local ns=$1; shift; nsenter --net="/run/netns/$ns" "$@"; }
# bg NAME CMD...: start in the background in its own session, remember the pid.
bg() {
  local name=$1; shift
  setsid "$@" >"$LOG/$name.log" 2>&1 </dev/null &
  echo $! >"$PIDS/$name"
}
# wait_for SECONDS WHAT CMD...
wait_for() {
  local end=$(( SECONDS + $1 )) what=$2; shift 2
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || { echo "timed out: $what (logs: $LOG)" >&2; return 1; }
    sleep 0.1
  done
}
# a zombie that init has not reaped yet does not count as alive
alive() { [ -e "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }
k() { "$BIN/kubectl" --kubeconfig "$KUBECONFIG_HOST" "$@"; }

# --- certificates --------------------------------------------------------------
cert() { # cert NAME SUBJECT [SAN]
  local n=$1 subj=$2 san=${3:-}
  openssl ecparam -name prime256v1 -genkey -noout -out "$PKI/$n.key"
  openssl req -new -key "$PKI/$n.key" -subj "$subj" -out "$PKI/$n.csr"
  openssl x509 -req -in "$PKI/$n.csr" -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" -CAcreateserial \
    -days 30 -out "$PKI/$n.crt" 2>/dev/null \
    -extfile <(printf 'extendedKeyUsage=clientAuth,serverAuth\n%s' "${san:+subjectAltName=$san}")
}
b64() { base64 -w0 <"$1"; }
kubeconfig() { # kubeconfig NAME SERVER FILE
  cat >"$3" <<Y
apiVersion: v1
kind: Config
clusters: [{name: k, cluster: {server: "$2", certificate-authority-data: $(b64 "$PKI/ca.crt")}}]
users: [{name: u, user: {client-certificate-data: $(b64 "$PKI/$1.crt"), client-key-data: $(b64 "$PKI/$1.key")}}]
contexts: [{name: c, context: {cluster: k, user: u}}]
current-context: c
Y
}
pki() {
  mkdir -p "$PKI"
  openssl ecparam -name prime256v1 -genkey -noout -out "$PKI/ca.key"
  openssl req -x509 -new -key "$PKI/ca.key" -subj /CN=k8s-ca -days 30 -out "$PKI/ca.crt"
  cert apiserver /CN=kube-apiserver \
    IP:127.0.0.1,IP:10.77.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc
  cert admin /O=system:masters/CN=admin
  for i in $(seq "$NODES"); do
    cert "n$i" "/O=system:nodes/CN=system:node:n$i"
    kubeconfig "n$i" https://10.77.0.1:6443 "$RUN/n$i.kubeconfig"
  done
  openssl ecparam -name prime256v1 -genkey -noout -out "$PKI/sa.key"
  openssl ec -in "$PKI/sa.key" -pubout -out "$PKI/sa.pub" 2>/dev/null
  kubeconfig admin https://10.77.0.1:6443 "$RUN/cp.kubeconfig"
  kubeconfig admin "https://127.0.0.1:$API_PORT" "$KUBECONFIG_HOST"
}

# --- network ---------------------------------------------------------------------
network() {
  ip netns add k8s-cp
  ip -n k8s-cp link set lo up
  ip -n k8s-cp link add fab0 type bridge
  ip -n k8s-cp addr add 10.77.0.1/24 dev fab0
  ip -n k8s-cp link set fab0 up
  local i j
  for i in $(seq "$NODES"); do
    ip netns add "k8s-n$i"
    ip -n "k8s-n$i" link set lo up
    ip -n k8s-cp link add "n$i" type veth peer name eth0 netns "k8s-n$i"
    ip -n k8s-cp link set "n$i" master fab0 up
    ip -n "k8s-n$i" addr add "10.77.0.1$i/24" dev eth0
    ip -n "k8s-n$i" link set eth0 up
    ip -n "k8s-n$i" route add default via 10.77.0.1
    ip -n k8s-cp route add "10.244.$i.0/24" via "10.77.0.1$i"
    in_net "k8s-n$i" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
  done
  for i in $(seq "$NODES"); do for j in $(seq "$NODES"); do
    [ "$i" = "$j" ] || ip -n "k8s-n$i" route add "10.244.$j.0/24" via "10.77.0.1$j"
  done; done
}

# --- control plane -----------------------------------------------------------------
control_plane() {
  bg etcd nsenter --net=/run/netns/k8s-cp "$BIN/etcd" --data-dir "$RUN/etcd" --unsafe-no-fsync \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --log-level warn
  bg kube-apiserver "$HERE/again.sh" nsenter --net=/run/netns/k8s-cp "$BIN/kube-apiserver" \
    --etcd-servers=http://127.0.0.1:2379 --advertise-address=10.77.0.1 --bind-address=0.0.0.0 \
    --secure-port=6443 --service-cluster-ip-range=10.96.0.0/16 --authorization-mode=Node,RBAC \
    --enable-admission-plugins=NodeRestriction --allow-privileged=true \
    --client-ca-file="$PKI/ca.crt" --tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" \
    --kubelet-client-certificate="$PKI/admin.crt" --kubelet-client-key="$PKI/admin.key" \
    --kubelet-preferred-address-types=InternalIP --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file="$PKI/sa.pub" --service-account-signing-key-file="$PKI/sa.key" \
    --endpoint-reconciler-type=lease --profiling=false
  # host 127.0.0.1:$API_PORT -> UNIX socket -> 10.77.0.1:6443 in the netns. What comes in two pieces is not
  # to wait for the first to be acknowledged.
  bg api-inner nsenter --net=/run/netns/k8s-cp socat "UNIX-LISTEN:$RUN/api.sock,fork,mode=600" TCP:10.77.0.1:6443,nodelay
  bg api-outer socat "TCP-LISTEN:$API_PORT,bind=127.0.0.1,reuseaddr,nodelay,fork" "UNIX-CONNECT:$RUN/api.sock"
  wait_for 120 "API server" k get --raw /readyz
  say "API server ready"
  bg kube-controller-manager nsenter --net=/run/netns/k8s-cp "$BIN/kube-controller-manager" \
    --kubeconfig="$RUN/cp.kubeconfig" --leader-elect=false --root-ca-file="$PKI/ca.crt" \
    --service-account-private-key-file="$PKI/sa.key" --bind-address=127.0.0.1 --profiling=false \
    --node-monitor-grace-period="$NODE_GRACE"
  bg kube-dns nsenter --net=/run/netns/k8s-cp "$BIN/kube-dns" --listen 10.77.0.1:53 --kubeconfig "$RUN/cp.kubeconfig"
  bg kube-scheduler nsenter --net=/run/netns/k8s-cp "$BIN/kube-scheduler" \
    --kubeconfig="$RUN/cp.kubeconfig" --leader-elect=false --bind-address=127.0.0.1 --profiling=false
}

start() {
  [ "$(id -u)" = 0 ] || { echo "run as root" >&2; exit 1; }
  [ ! -e "$PIDS" ] || { echo "already started ($PIDS); run: $0 stop" >&2; exit 1; }
  mkdir -p "$PIDS" "$LOG"
  T0=$(date +%s.%N)
  for n in etcd kube-apiserver kube-controller-manager kube-scheduler kube-dns kubelet kube-proxy kubectl; do
    ln -sf kube "$BIN/$n"
  done
  pki; say "certificates"
  network; say "network namespaces"
  for i in $(seq "$NODES"); do
    # cgroup v1: one parent per node in every hierarchy (kubelet --cgroup-root)
    for c in $CGROUPS; do mkdir -p "$c/k8s-n$i"; done
    for f in cpus mems; do
      [ ! -e "/sys/fs/cgroup/cpuset/cpuset.$f" ] ||
        cat "/sys/fs/cgroup/cpuset/cpuset.$f" >"/sys/fs/cgroup/cpuset/k8s-n$i/cpuset.$f"
    done
    local node=("$HERE/node.sh" "$i")
    [[ " $NO_IO_URING " != *" n$i "* ]] || node=("$HERE/without_io_uring.py" "${node[@]}")
    bg "n$i" nsenter --net="/run/netns/k8s-n$i" \
      unshare --mount --uts --ipc --pid --fork --kill-child --mount-proc "${node[@]}"
  done
  control_plane
  if [ "$NODES" -gt 0 ]; then
    # shellcheck disable=SC2046
    wait_for $((90 + 15 * NODES)) "nodes Ready" k wait --for=condition=Ready $(seq -f 'node/n%g' "$NODES") --timeout=1s
    say "$NODES nodes Ready"
  fi
  wait_for 60 "default service account" k get serviceaccount default
  say "cluster up; export KUBECONFIG=$KUBECONFIG_HOST"
}

stop() {
  local f p
  [ -d "$PIDS" ] || { echo "not running"; return 0; }
  # Killing `unshare --kill-child` kills the node's PID 1, and with it the whole PID namespace
  # (containerd, shims, pods). Its mounts go with the mount namespace. Nothing is kept of the
  # control plane, so it needs no orderly end either.
  for f in "$PIDS"/*; do
    [ -e "$f" ] || continue
    p=$(cat "$f")
    kill -KILL -- "-$p" 2>/dev/null || true
    for _ in $(seq 100); do alive "$p" || break; sleep 0.1; done
    rm -f "$f"
  done
  for f in /run/netns/k8s-*; do [ -e "$f" ] && ip netns del "${f##*/}"; done
  for c in $CGROUPS; do
    for f in "$c"/k8s-n*; do
      [ -d "$f" ] || continue
      find "$f" -depth -type d -exec rmdir {} + 2>/dev/null || { sleep 1; find "$f" -depth -type d -exec rmdir {} +; }
    done
  done
  [ "${KEEP_LOGS:-}" = 1 ] && { rm -rf "$RUN.last"; mkdir -p "$RUN.last"; cp -r "$LOG" "$RUN.last/"; }
  rm -rf "$RUN"
  echo stopped
}

status() {
  for f in "$PIDS"/*; do
    [ -e "$f" ] || continue
    p=$(cat "$f"); alive "$p" && s=up || s=DOWN
    printf '%-26s %7s %s\n' "${f##*/}" "$p" "$s"
  done
  k get nodes -o wide
}

case "${1:-}" in
  start) start ;;
  stop) stop ;;
  status) status ;;
  env) echo "export KUBECONFIG=$KUBECONFIG_HOST PATH=$BIN:\$PATH" ;;
  *) sed -n '2,23p' "$0"; exit 2 ;;
esac
