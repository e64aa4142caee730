# What `iotax kube doctor` says of a cluster. Sourced by try.sh.

DEFAULT=storageclass.kubernetes.io/is-default-class

doctor() { "$IOTAX" kube doctor "$@" >"$W/said" || { cat "$W/said"; fail "doctor $*: exit code $?"; }; }

# A claim of class fast, and a pod that uses it.
user_of_claim() {
  release
  kubectl -n bench apply -f - >/dev/null <<Y
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 200Mi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: user}
spec:
  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
  containers:
  - name: pause
    image: localhost/pause:1
    imagePullPolicy: Never
    volumeMounts: [{name: data, mountPath: /data}]
    resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {cpu: 10m, memory: 16Mi}}
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
Y
  until_true 60 kubectl -n bench wait --for=jsonpath='{.status.phase}'=Running pod/user --timeout=1s ||
    fail "no pod uses the claim"
}

part_doctor() {
  kubectl annotate storageclass fast "$DEFAULT=true" >/dev/null
  user_of_claim
  doctor
  need "a healthy cluster has no cause" "None of the known causes was found" "$W/said"
  doctor pvc:bench/data
  need "the claim is told" "claim bench/data" "$W/said"
  need "its volume" "volume fast-" "$W/said"
  need "its node" "node n1" "$W/said"
  kubectl annotate storageclass slow "$DEFAULT=true" >/dev/null
  doctor
  need "two default classes are found" "several storage classes are marked as the default" "$W/said"
  kubectl annotate storageclass fast slow "$DEFAULT-" >/dev/null
  doctor
  need "no default class is found" "no-default-class" "$W/said"
  kubectl cordon n2 >/dev/null
  doctor node:n2
  need "a cordoned node is found" "a node does not accept new pods (node n2)" "$W/said"
  kubectl uncordon n2 >/dev/null
  doctor_with_few_rights
  doctor_under_claim
  kubectl -n bench delete pod/user pvc/data --wait >/dev/null
  nothing_left doctor
  release
  doctor class:fast --probe --namespace bench --size 200M --cpu 500m --memory 256M --wait 60s
  need "a pod sees the disk under a volume" "loop" "$W/said"
  need "and its file system" "ext4" "$W/said"
  nothing_left "doctor --probe"
  doctor_under_raw_claim
  doctor_as_root
}

# What is printed is kept where SHOWN says.
probe() {
  doctor "$@" --probe --size 200M --wait 60s
  [ -z "${SHOWN:-}" ] || { echo "\$ iotax kube doctor $* --probe"; cat "$W/said"; } >>"$SHOWN"
}

# What Pod Security allows in the namespace.
allow() { kubectl label namespace bench --overwrite "pod-security.kubernetes.io/enforce=$1" >/dev/null; }

# What the files of a volume have in them, how they are called, whose they are and when they were changed.
of_volume() { (cd "$1" && find . -printf '%p %u %g %m %s %T@ %C@\n' | sort && find . -type f -exec sha256sum {} + | sort); }

claim_and_user() {
  kubectl -n bench get pvc/data pod/user -o jsonpath='{range .items[*]}{.metadata.uid} {.metadata.labels}
{.metadata.annotations} {.metadata.finalizers} {.metadata.deletionTimestamp} {.spec} {.status.phase}
{end}'
}

# A claim that is there and in use, and data on it that must stay as it is.
doctor_under_claim() {
  local volume
  volume=$STORAGE/$(kubectl -n bench get pvc data -o jsonpath='{.spec.volumeName}')
  mkdir "$volume/theirs"
  head -c 1M /dev/urandom >"$volume/theirs/file"
  chmod 0600 "$volume/theirs/file"
  of_volume "$volume" >"$W/before-probe"
  claim_and_user >"$W/objects-before"
  everything >"$W/with-claim"
  probe pvc:bench/data
  need "what lies under a claim is seen from the node of its user" "in a pod on node n1" "$W/said"
  need "its disk" "loop" "$W/said"
  need "its mount, which nobody can write to" "ro,relatime" "$W/said"
  need "its file system" "ext4" "$W/said"
  ! sed -n '/in a pod on/,/^$/p' "$W/said" | grep -q fuse || fail "a pod sees what only its node can"
  diff "$W/before-probe" <(of_volume "$volume") || fail "the probe changed what is on the claim"
  diff "$W/objects-before" <(claim_and_user) ||
    fail "the probe changed the claim or its user"
  diff "$W/with-claim" <(everything) || fail "the probe left this"
  ok "the claim, its user and what is on it are as they were"
  ! "$IOTAX" kube doctor pvc:bench/data --probe --privileged --wait 60s \
    >"$W/out" 2>"$W/said" || fail "a restricted namespace lets a privileged pod in"
  need "a restricted namespace refuses --privileged in its words" 'violates PodSecurity "restricted:latest"' "$W/said"
  need "and what helps is said" "pod-security.kubernetes.io/enforce=privileged" "$W/said"
  diff "$W/with-claim" <(everything) || fail "a refused probe left this"
  allow privileged
  probe pvc:bench/data --privileged
  allow restricted
  need "root sees it on the node" "as root on node n1" "$W/said"
  need "and the file system that the loop device's file is on" "$STORAGE/disks/" "$W/said"
  sed -n '/as root on/,/^$/p' "$W/said" | grep -q fuse || { cat "$W/said"; fail "root sees no more than a pod"; }
  ok "root sees more than a pod"
  diff "$W/before-probe" <(of_volume "$volume") || fail "the privileged probe changed what is on the claim"
  diff "$W/objects-before" <(claim_and_user) || fail "the privileged probe changed the claim or its user"
  diff "$W/with-claim" <(everything) || fail "the privileged probe left this"
  [ "$(kubectl -n bench get pvc data -o jsonpath='{.status.phase}')" = Bound ] || fail "the claim is not bound"
  ok "with --privileged, too, everything is as it was"
  doctor_killed
  diff "$W/before-probe" <(of_volume "$volume") || fail "the killed probe changed what is on the claim"
  diff "$W/objects-before" <(claim_and_user) || fail "the killed probe changed the claim or its user"
  diff "$W/with-claim" <(everything) || fail "the killed probe left this"
  ok "of a probe that was killed, undo leaves nothing"
  rm -r "$volume/theirs"
}

# A probe that is killed when its pod is there.
doctor_killed() {
  local ours="app.kubernetes.io/managed-by=iotax" running
  "$IOTAX" kube doctor pvc:bench/data --probe --wait 60s >/dev/null 2>&1 &
  running=$!
  a_pod_is_there() { [ -n "$(kubectl -n bench get pods -l "$ours" -o name)" ]; }
  until_true 30 a_pod_is_there || fail "no pod of the probe comes"
  kill -KILL "$running"
  wait "$running" 2>/dev/null || true
  a_pod_is_there || fail "the probe was over before it was killed"
  "$IOTAX" undo --cluster --namespace bench >"$W/said"
  need "undo removes the pod of a killed probe" "Pod iotax-" "$W/said"
}

# A claim for a device, which nobody uses: first one that has no volume yet, then bound to one.
doctor_under_raw_claim() {
  release
  claim_of_device() {
    kubectl -n bench apply -f - >/dev/null <<Y
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: raw}
spec: {storageClassName: raw, volumeMode: Block, accessModes: [ReadWriteOnce], resources: {requests: {storage: 200Mi}}$1}
Y
  }
  phase() { kubectl -n bench get pvc raw -o jsonpath='{.status.phase}'; }
  is_bound() { [ "$(phase)" = Bound ]; }
  claim_of_device ""
  probe pvc:bench/raw
  need "a claim that waits is left alone" "it is pending" "$W/said"
  [ "$(phase)" = Pending ] || fail "the probe bound the claim"
  kubectl -n bench delete pvc/raw --wait >/dev/null
  nothing_left "a probe of a claim that waits"
  claim_of_device ", volumeName: raw-1"
  until_true 30 is_bound || fail "the claim of a device is not bound"
  everything >"$W/with-claim"
  sha256sum "$STORAGE/raw-1" >"$W/before-probe"
  probe pvc:bench/raw
  need "a claim of a device that nobody uses is seen" "in a pod on node n1" "$W/said"
  need "with its device" "loop" "$W/said"
  allow privileged
  probe pvc:bench/raw --privileged
  allow restricted
  need "root sees the device on the node" "as root on node n1" "$W/said"
  need "and what is below it" "fuse" "$W/said"
  diff "$W/before-probe" <(sha256sum "$STORAGE/raw-1") || fail "the probe wrote to the device"
  diff "$W/with-claim" <(everything) || fail "the probe left this"
  is_bound || fail "the claim of a device is not bound any more"
  ok "device and claim are as they were"
  kubectl -n bench delete pvc/raw --wait >/dev/null
  nothing_left "a probe of a device"
}

# A new volume, in a namespace that allows it.
doctor_as_root() {
  release
  kubectl create namespace roots >/dev/null
  kubectl label namespace roots pod-security.kubernetes.io/enforce=privileged >/dev/null
  until_true 30 kubectl -n roots get serviceaccount default
  probe class:fast --privileged --namespace roots
  need "root sees a new volume on its node" "As root on node n1: class fast" "$W/said"
  need "and what is below its loop device" "$STORAGE/disks/" "$W/said"
  kubectl delete namespace roots --wait >/dev/null
  nothing_left "doctor --probe --privileged"
  release
}

# Whatever may not be listed is said, and the rest is told all the same.
doctor_with_few_rights() {
  "$IOTAX" kube manifest --namespace bench | kubectl apply -f - >/dev/null
  account
  KUBECONFIG=$W/account doctor --namespace bench
  need "what may not be seen is said" "storageclasses: not allowed to list storageclasses" "$W/said"
  need "and claims are told" "claim bench/data" "$W/said"
  "$IOTAX" kube manifest --namespace bench --cluster-reader | kubectl apply -f - >/dev/null
  KUBECONFIG=$W/account doctor
  ! grep -q "may not" "$W/said" || { cat "$W/said"; fail "the printed role is not enough"; }
  ok "the printed role is enough for all"
  "$IOTAX" kube manifest --namespace bench --cluster-reader | kubectl delete -f - >/dev/null
  "$IOTAX" kube manifest --namespace bench | kubectl delete -f - >/dev/null
}
