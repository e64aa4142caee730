#!/usr/bin/env bash
# `iotax kube` on the small cluster: starts it with two storage classes of known limits (2,000 and 1,000
# I/Os per second), compares them and more, stops it. As root.
#
# usage: IOTAX=PROGRAM IMAGE_TAR=FILE [BIN=DIR] [IMAGES_DIR=DIR] compare.sh [PART...]
#   IOTAX      the program, with the feature `kubernetes`
#   IMAGE_TAR  OCI archive of its image, which containerd calls docker.io/library/iotax:VERSION
#   PART       class itself emptydir ephemeral nodes rights inside reasons cut interrupted killed (default: all, in this order)
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
export IOTAX=${IOTAX:?} BIN=${BIN:-/tmp/k8s/bin} RUN=${RUN:-/tmp/k8s/run}
export STORAGE=${STORAGE:-/tmp/k8s/storage} KUBECONFIG=$RUN/admin.kubeconfig PATH=$BIN:$PATH
export IMAGES="${IMAGES_DIR:-/tmp/k8s/images}/pause.tar ${IMAGE_TAR:?}"
PARTS=("$@")
[ ${#PARTS[@]} -gt 0 ] || PARTS=(class itself emptydir ephemeral nodes rights inside reasons cut interrupted killed)
W=$(mktemp -d)
VOLUMES=(fast-1=2000 fast-2=2000 slow-1=1000)
PLANTED=50

down() {
  "$HERE/cluster.sh" stop
  "$HERE/storage.sh" down
  rm -rf "$W"
}
trap down EXIT

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
  cat <<Y
apiVersion: v1
kind: PersistentVolume
metadata: {name: $1}
spec:
  capacity: {storage: 200Mi}
  accessModes: [ReadWriteOnce]
  storageClassName: ${1%-*}
  persistentVolumeReclaimPolicy: Retain
  local: {path: $STORAGE/$1}
  nodeAffinity:
    required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}]}
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

# compare ARGS...: on volumes that are free. NAMESPACE, SIZE, CPU, TIME and WAIT may be set for one.
compare() {
  release
  "$IOTAX" kube compare -w randread-4k --set size=64M --set depth=8 --time "${TIME:-1s}" --ramp 200ms \
    --namespace "${NAMESPACE:-bench}" --size "${SIZE:-200M}" --cpu "${CPU:-500m}" --memory 256M \
    --wait "${WAIT:-60s}" --no-depth-check "$@"
}

part_class() {
  compare fast=class:fast slow=class:slow --out "$W/class" | tee "$W/said"
  local interval low high
  interval=$(grep -oE '^  slow +throughput +[0-9.]+ % \[[0-9., -]+\]' "$W/said" | grep -oE '\[.*\]')
  IFS='[], ' read -r _ low high _ <<<"$interval"
  [ "$(bc <<<"$low <= $PLANTED && $PLANTED <= $high")" = 1 ] ||
    fail "the planted tax of $PLANTED % is not in $interval"
  ok "the planted tax of $PLANTED % is in $interval"
  need "the record says which volumes" "class:slow, volume slow-1, node n1" "$W/class/experiment.json"
  nothing_left class
}

part_itself() {
  compare a=class:fast b=class:fast --out "$W/itself" >"$W/said"
  ! grep -E '^  b .*(slower|faster)$' "$W/said" || fail "a class differs from itself"
  ok "a class does not differ from itself: $(sed -n 3p "$W/said")"
  nothing_left itself
}

part_emptydir() {
  compare disk=class:slow node=emptydir --quick --max-blocks 3 --out "$W/emptydir" >"$W/said"
  need "an arm is a directory of the node" "in Kubernetes: emptydir, node n" "$W/emptydir/experiment.json"
  nothing_left emptydir
}

# Claims that the cluster makes with the pods, and removes with them.
part_ephemeral() {
  compare a=ephemeral:fast b=ephemeral:slow --quick --max-blocks 2 --out "$W/ephemeral" >"$W/said"
  need "an ephemeral volume is one of its class" "ephemeral:slow, volume slow-1, node n1" "$W/ephemeral/experiment.json"
  nothing_left ephemeral
  WAIT=4s refused "an ephemeral volume of a class that is not there" '"none" not found' \
    a=ephemeral:none b=ephemeral:fast
}

# One volume of each node's own, on the node that was asked for: also on one that is tainted.
part_nodes() {
  kubectl taint nodes n2 dedicated=disks:NoSchedule >/dev/null
  WAIT=4s refused "a taint" "untolerated taint" a=emptydir@n1 b=emptydir@n2
  compare --matrix node=n1,n2 'emptydir@{node}' --toleration dedicated --quick --max-blocks 2 --out "$W/nodes" >"$W/said"
  kubectl taint nodes n2 dedicated- >/dev/null
  need "the first node is the first arm's" "in Kubernetes: emptydir, node n1" "$W/nodes/experiment.json"
  need "the second node is the second arm's" "in Kubernetes: emptydir, node n2" "$W/nodes/experiment.json"
  nothing_left nodes
  WAIT=4s refused "a node that is not there" "no node takes it" a=emptydir@n1 b=emptydir@n3
}

# kubeconfig of the account that `iotax kube manifest` makes.
account() {
  local token
  token=$(kubectl -n bench create token iotax)
  kubectl config view --raw --minify -o yaml |
    sed -e "s|client-certificate-data:.*|token: $token|" -e '/client-key-data:/d' >"$W/account"
  chmod 600 "$W/account"
}

part_rights() {
  "$IOTAX" kube manifest --namespace bench | kubectl apply -f - >/dev/null
  account
  KUBECONFIG=$W/account compare fast=class:fast slow=class:slow --quick --max-blocks 2 --out "$W/rights" >"$W/said"
  ok "the printed role is enough"
  local verbs resource
  for resource in persistentvolumeclaims/create pods/create pods/exec:get; do
    verbs=${resource##*[/:]}
    resource=${resource%[/:]*}
    "$IOTAX" kube manifest --namespace bench |
      awk -v r="$resource" -v v="$verbs" '
        $0 ~ "resources: \\[" r "\\]" { hit = 1 }
        hit && /verbs:/ { sub(v ", ", ""); sub(", " v "]", "]"); hit = 0 }
        { print }' | kubectl apply -f - >/dev/null
    ! KUBECONFIG=$W/account compare fast=class:fast slow=class:slow --out "$W/less" 2>"$W/said" ||
      fail "without $verbs $resource it runs all the same"
    need "without $verbs $resource" "cannot $verbs resource \"$resource\"" "$W/said"
    gone || fail "without $verbs $resource, this is left"
  done
  "$IOTAX" kube manifest --namespace bench | kubectl delete -f - >/dev/null
  nothing_left rights
}

# From a pod, with its account's rights, and nothing of the user's.
part_inside() {
  "$IOTAX" kube manifest --namespace bench | kubectl apply -f - >/dev/null
  kubectl apply -f - >/dev/null <<Y
apiVersion: v1
kind: Pod
metadata: {name: inside, namespace: bench}
spec:
  serviceAccountName: iotax
  restartPolicy: Never
  securityContext: {runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
  volumes: [{name: out, emptyDir: {}}]
  containers:
  - name: iotax
    image: iotax:$("$IOTAX" --version | cut -d' ' -f2)
    imagePullPolicy: IfNotPresent
    args: [kube, compare, -w, randread-4k, a=emptydir, b=emptydir, --namespace, bench, --cpu, 500m, --memory, 256M,
           --size, 200M, --set, size=64M, --time, 1s, --quick, --max-blocks, "2", --no-depth-check, --out, /out/inside]
    volumeMounts: [{name: out, mountPath: /out}]
    resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {cpu: 500m, memory: 256Mi}}
    securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
Y
  until_true 90 kubectl -n bench wait --for=jsonpath='{.status.phase}'=Succeeded pod/inside --timeout=1s || {
    kubectl -n bench logs inside >&2
    fail "a comparison from inside of the cluster"
  }
  kubectl -n bench logs inside >"$W/said"
  need "from inside of the cluster" "randread-4k: 2 blocks, 4 trials" "$W/said"
  kubectl -n bench delete pod inside --wait >/dev/null
  "$IOTAX" kube manifest --namespace bench | kubectl delete -f - >/dev/null
  nothing_left inside
}

# refused WHAT TEXT ARGS...: a comparison that cannot be, and why, within seconds.
refused() {
  local what=$1 text=$2 began=$SECONDS
  shift 2
  ! compare "$@" --out "$W/refused" 2>"$W/said" || fail "$what: it runs"
  need "$what, after $((SECONDS - began)) s" "$text" "$W/said"
  gone || fail "$what: this is left"
}

part_reasons() {
  refused "an image that is not there" "its image cannot be pulled" \
    a=class:fast b=class:slow --image localhost/iotax:none
  refused "an image that has no such program" "it has ended" a=emptydir b=emptydir --image localhost/pause:1
  CPU=64 WAIT=4s refused "more CPUs than there are" "Insufficient cpu" a=emptydir b=emptydir
  WAIT=4s refused "a class that is not there" '"none" not found' a=class:none b=class:fast
  SIZE=1T WAIT=4s refused "a volume that is too large" "there is no volume for its claim" a=class:fast b=class:slow
  NAMESPACE=none refused "a namespace that is not there" 'namespaces "none" not found' a=emptydir b=emptydir
  kubectl -n bench create quota small --hard=pods=1 >/dev/null
  until_true 20 kubectl -n bench wait --for=jsonpath='{.status.hard.pods}'=1 quota/small --timeout=1s
  refused "a quota" "exceeded quota: small" a=emptydir b=emptydir
  kubectl -n bench delete quota small >/dev/null
}

# begun NAME ARM...: starts a comparison that takes a while, and waits for its first trial. $running is
# the program, $shell the one that waits for it.
begun() {
  local name=$1
  shift
  TIME=8s compare "$@" --out "$W/$name" >"$W/said" 2>&1 &
  shell=$!
  until_true 60 test -s "$W/$name/trials.jsonl" || { cat "$W/said"; fail "$name: no trial"; }
  running=$(pgrep -P "$shell")
}

# All connections with the API server are cut once: a trial fails, and the next one has another agent.
part_cut() {
  begun cut a=class:fast b=class:slow
  # shellcheck disable=SC2046
  kill $(pgrep -P "$(cat "$RUN/pids/api-outer")")
  wait "$shell" || { cat "$W/said"; fail "cut: exit code $?"; }
  need "a cut connection is a failed trial" "was lost" "$W/cut/trials.jsonl"
  need "and the run goes on to its verdict" "b is " "$W/said"
  nothing_left cut
}

part_interrupted() {
  begun interrupted a=class:fast b=class:slow
  kill -INT "$running"
  local code=0
  wait "$shell" || code=$?
  [ "$code" = 4 ] || { cat "$W/said"; fail "interrupted: exit code $code"; }
  nothing_left "Ctrl-C"
}

part_killed() {
  begun killed a=class:fast b=class:slow
  kill -KILL "$running"
  wait "$shell" || true
  [ "$(kubectl -n bench get pods -o name | wc -l)" = 2 ] || fail "killed: no pods are left"
  "$IOTAX" undo --cluster --namespace bench | tee "$W/said"
  need "undo removes pods" "removed Pod iotax-" "$W/said"
  nothing_left "kill -9, and undo"
  # Nobody undoes: the pods end by themselves, and their objects wait for undo.
  WAIT=5s begun alone a=emptydir b=emptydir
  kill -KILL "$running"
  wait "$shell" || true
  until_true 120 kubectl -n bench wait --for=jsonpath='{.status.phase}'=Succeeded pod --all --timeout=1s ||
    fail "the pods of a dead run go on"
  ok "the pods of a dead run end by themselves"
  "$IOTAX" undo --cluster --namespace bench >"$W/said"
  nothing_left "they ended, and undo"
}

"$HERE/storage.sh" up "${VOLUMES[@]}"
"$HERE/cluster.sh" start
{
  class fast
  class slow
  for pair in "${VOLUMES[@]}"; do volume "${pair%=*}"; done
  printf 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: bench\n  labels: {%s: restricted}\n' \
    pod-security.kubernetes.io/enforce
} | kubectl apply -f - >/dev/null
until_true 30 kubectl -n bench get serviceaccount default
release
everything >"$W/before"
for part in "${PARTS[@]}"; do "part_$part"; done
echo "all passed in ${SECONDS} s"
