#!/usr/bin/env bash
# One node: runs as PID 1 of its own PID namespace, in its own network, mount, UTS and IPC
# namespace (see cluster.sh). Starts containerd, imports the images, starts kubelet and
# kube-proxy, and waits; when it dies, everything of the node dies with it.
set -euo pipefail
I=$1 NODE=n$1
D=$RUN/$NODE
mkdir -p "$D"/{kubelet,containerd,cni,pods,containers,etc-cni/net.d}
hostname "$NODE"

# Private copies of the fixed paths that a node uses, so that nodes do not meet on disk.
mount --make-rshared /
mount -t tmpfs tmpfs /run
for p in kubelet:/var/lib/kubelet containerd:/var/lib/containerd cni:/var/lib/cni \
         pods:/var/log/pods containers:/var/log/containers etc-cni:/etc/cni; do
  mkdir -p "${p#*:}"; mount --bind "$D/${p%%:*}" "${p#*:}"
done
# The kubelet insists on some sysctls of the whole machine (vm.overcommit_memory, kernel.panic,
# ...) and would set them. Show it plain files with the values it wants instead, in this mount
# namespace only, so that the machine stays as it is.
for kv in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
          kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  f=/run/sysctl-${kv//[\/=]/-}; echo "${kv#*=}" >"$f"; mount --bind "$f" "/proc/sys/${kv%=*}"
done

cat >/etc/cni/net.d/10-bridge.conflist <<J
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.244.$I.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
J
# restrict_oom_score_adj: without CAP_SYS_RESOURCE nobody may lower an OOM score.
cat >"$D/containerd.toml" <<T
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  device_ownership_from_security_context = ${DEVICE_OWNERSHIP:-true}
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
T
cat >"$D/kubelet.yaml" <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /k8s-$NODE
failSwapOn: false
failCgroupV1: false
resolvConf: ""
clusterDNS: [10.77.0.1]
clusterDomain: cluster.local
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $RUN/pki/ca.crt}}
authorization: {mode: Webhook}
evictionHard: {nodefs.available: "1%", nodefs.inodesFree: "1%", imagefs.available: "1%", memory.available: 100Mi}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
nodeStatusUpdateFrequency: 10s
syncFrequency: 10s
shutdownGracePeriod: 0s
$KUBELET_EXTRA
Y
cat >"$D/proxy.yaml" <<Y
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: $PROXY_MODE
clusterCIDR: 10.244.0.0/16
hostnameOverride: $NODE
nodeIPOverride: ["10.77.0.1$I"]
clientConnection: {kubeconfig: $RUN/cp.kubeconfig}
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
metricsBindAddress: 127.0.0.1:10249
Y

containerd -c "$D/containerd.toml" >"$RUN/log/$NODE-containerd.log" 2>&1 &
for _ in $(seq 100); do ctr version >/dev/null 2>&1 && break; sleep 0.1; done
for t in $IMAGES; do ctr -n k8s.io images import "$t"; done

"$(dirname "$0")/again.sh" "$BIN/kubelet" --config="$D/kubelet.yaml" --kubeconfig="$RUN/$NODE.kubeconfig" \
  --hostname-override="$NODE" --node-ip="10.77.0.1$I" >"$RUN/log/$NODE-kubelet.log" 2>&1 &
if [ "$PROXY_MODE" != none ]; then
  "$BIN/kube-proxy" --config="$D/proxy.yaml" >"$RUN/log/$NODE-kube-proxy.log" 2>&1 &
fi
# PID 1 must not exit; say which child died, but keep the node up for inspection.
while :; do
  if ! wait -n; then echo "a node process exited with $?"; fi
  sleep 1
done
