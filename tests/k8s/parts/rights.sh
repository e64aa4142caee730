# With few rights, and from inside of the cluster. Sourced by try.sh.

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
