#!/usr/bin/env bash
# `iotax kube` on the small cluster: starts it with two storage classes of known limits (2,000 and 1,000
# I/Os per second), compares them and more, stops it. As root.
#
# usage: IOTAX=PROGRAM IMAGE_TAR=FILE [BIN=DIR] [IMAGES_DIR=DIR] try.sh [PART...]
#   IOTAX      the program, with the feature `kubernetes`
#   IMAGE_TAR  OCI archive of its image, which containerd calls docker.io/library/iotax:VERSION
#   PART       a function of parts/ (default: all of them, in the order below); one may be named again.
#              sandboxed   alone: on node n2, pods may not use io_uring
#              population  alone: on a cluster of 20 nodes, or of as many as NODES says
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
export IOTAX=${IOTAX:?} BIN=${BIN:-/tmp/k8s/bin} RUN=${RUN:-/tmp/k8s/run}
export STORAGE=${STORAGE:-/tmp/k8s/storage} KUBECONFIG=$RUN/admin.kubeconfig PATH=$BIN:$PATH
export IMAGES="${IMAGES_DIR:-/tmp/k8s/images}/pause.tar ${IMAGE_TAR:?}"
PARTS=("$@")
[ ${#PARTS[@]} -gt 0 ] || PARTS=(class itself emptydir ephemeral nodes claim hostpath block containers fleet net netless doctor capture limits rights inside reasons own_namespace faults cut evicted interrupted killed)
[ "${PARTS[*]}" != sandboxed ] || export NO_IO_URING=n2
W=$(mktemp -d)
VOLUMES=(fast-1=2000 fast-2=2000 slow-1=1000 raw-1=2000 fleet-1=2000 fleet-2=1400 even-1=2000 even-2=2000)
# The slow one of a population.
SLOW=7
if [ "${PARTS[*]}" = population ]; then
  export NODES=${NODES:-20}
  VOLUMES=()
  for number in $(seq "$NODES"); do VOLUMES+=("many-$number=$((number == SLOW ? 1400 : 2000))"); done
fi
PLANTED=50

down() {
  "$HERE/cluster.sh" stop
  "$HERE/storage.sh" down
  rm -rf "$W"
}
trap down EXIT
trap 'exit 130' INT TERM
# Nothing ends silently.
set -E
trap 'echo "failed: $BASH_COMMAND (${BASH_SOURCE[0]##*/}:$LINENO)" >&2' ERR

fail() { echo "FAIL $*" >&2; exit 1; }
ok() { printf '%4ds ok   %s\n' "$SECONDS" "$*"; }
# need WHAT TEXT FILE: the file has the text.
need() { grep -qF -- "$2" "$3" || { cat "$3" >&2; fail "$1: it does not say: $2"; }; ok "$1"; }
# until_true SECONDS CMD...
until_true() {
  local end=$((SECONDS + $1)); shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.3
  done
}

class() {
  cat <<Y
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: $1}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
Y
}
volume() {
  local mode=Filesystem node=n1
  [[ $1 != fleet-2 && $1 != even-2 ]] || node=n2
  [[ $1 != many-* ]] || node=n${1#many-}
  [[ $1 != raw-* ]] || mode=Block
  cat <<Y
apiVersion: v1
kind: PersistentVolume
metadata: {name: $1}
spec:
  capacity: {storage: 200Mi}
  accessModes: [ReadWriteOnce]
  storageClassName: ${1%-*}
  persistentVolumeReclaimPolicy: Retain
  volumeMode: $mode
  local: {path: $(readlink -f "$STORAGE/$1")}
  nodeAffinity:
    required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [$node]}]}]}
---
Y
}
# Volumes of deleted claims are kept by their reclaim policy; whoever made them gives them free again.
release() {
  local pair KUBECONFIG=$RUN/admin.kubeconfig
  for pair in "${VOLUMES[@]}"; do
    kubectl patch pv "${pair%=*}" --type=merge -p '{"spec":{"claimRef":null}}' >/dev/null
    until_true 20 kubectl wait --for=jsonpath='{.status.phase}'=Available "pv/${pair%=*}" --timeout=1s
  done
}
everything() { kubectl get all,pvc,pv,leases.coordination.k8s.io -A -o name | grep -v 'lease.*/\(n[0-9]\|apiserver-.*\)$'; }
gone() { diff <(everything) "$W/before"; }
# nothing_left WHAT: what was there before is there, and nothing else.
nothing_left() { gone || fail "$1: this is left"; ok "$1: nothing is left"; }

# compare ARGS...: on volumes that are free. NAMESPACE (`new`: one of its own), SIZE, CPU, TIME (`slices`: none)
# and WAIT may be set for one.
compare() {
  local place=(--namespace "${NAMESPACE:-bench}") times=(--time "${TIME:-1s}" --ramp 200ms)
  [ "${TIME:-}" != slices ] || times=()
  [ "${NAMESPACE:-}" != new ] || place=(--create-namespace)
  release
  "$IOTAX" kube compare -w randread-4k --set size=64M --set depth=8 "${times[@]}" \
    "${place[@]}" --size "${SIZE:-200M}" --cpu "${CPU:-500m}" --memory 256M \
    --wait "${WAIT:-60s}" --no-depth-check "$@"
}

# refused WHAT TEXT ARGS...: a comparison that cannot be, and why, within seconds.
refused() {
  local what=$1 text=$2 began=$SECONDS
  shift 2
  ! compare "$@" --out "$W/refused" 2>"$W/said" || fail "$what: it runs"
  need "$what, after $((SECONDS - began)) s" "$text" "$W/said"
  gone || fail "$what: this is left"
}

for file in "$HERE"/parts/*.sh; do
  # shellcheck disable=SC1090
  source "$file"
done

"$HERE/storage.sh" up "${VOLUMES[@]}"
"$HERE/cluster.sh" start
{
  class fast
  class slow
  class raw
  class fleet
  class even
  class many
  for pair in "${VOLUMES[@]}"; do volume "${pair%=*}"; done
  printf 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: bench\n  labels: {%s: restricted}\n' \
    pod-security.kubernetes.io/enforce
} | kubectl apply -f - >/dev/null
until_true 30 kubectl -n bench get serviceaccount default
release
everything >"$W/before"
for part in "${PARTS[@]}"; do
  "part_$part"
  rm -rf "${W:?}"/*/
done
echo "all passed in ${SECONDS} s"
