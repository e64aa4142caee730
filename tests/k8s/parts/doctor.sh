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
  need "a healthy cluster has no cause" "Nothing that is known to hurt was seen." "$W/said"
  doctor pvc:bench/data
  need "the claim is told" "claim bench/data" "$W/said"
  need "its volume" "volume fast-" "$W/said"
  need "its node" "node n1" "$W/said"
  kubectl annotate storageclass slow "$DEFAULT=true" >/dev/null
  doctor
  need "two default classes are found" "several storage classes are the default" "$W/said"
  kubectl annotate storageclass fast slow "$DEFAULT-" >/dev/null
  doctor
  need "no default class is found" "no-default-class" "$W/said"
  kubectl cordon n2 >/dev/null
  doctor node:n2
  need "a cordoned node is found" "a node takes no new pods (node n2)" "$W/said"
  kubectl uncordon n2 >/dev/null
  doctor_with_few_rights
  kubectl -n bench delete pod/user pvc/data --wait >/dev/null
  nothing_left doctor
  release
  doctor class:fast --probe --namespace bench --size 200M --cpu 500m --memory 256M --wait 60s
  need "a pod sees the disk under a volume" "loop" "$W/said"
  need "and its file system" "ext4" "$W/said"
  nothing_left "doctor --probe"
}

# Whatever may not be listed is said, and the rest is told all the same.
doctor_with_few_rights() {
  "$IOTAX" kube manifest --namespace bench | kubectl apply -f - >/dev/null
  account
  KUBECONFIG=$W/account doctor --namespace bench
  need "what may not be seen is said" "storageclasses: may not list storageclasses" "$W/said"
  need "and claims are told" "claim bench/data" "$W/said"
  "$IOTAX" kube manifest --namespace bench --cluster-reader | kubectl apply -f - >/dev/null
  KUBECONFIG=$W/account doctor
  ! grep -q "may not" "$W/said" || { cat "$W/said"; fail "the printed role is not enough"; }
  ok "the printed role is enough for all"
  "$IOTAX" kube manifest --namespace bench --cluster-reader | kubectl delete -f - >/dev/null
  "$IOTAX" kube manifest --namespace bench | kubectl delete -f - >/dev/null
}
