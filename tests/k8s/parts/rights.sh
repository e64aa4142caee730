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

# A job that iotax prints, with its account's rights, and nothing of the user's.
part_inside() {
  "$IOTAX" kube manifest --namespace bench -- compare -w randread-4k a=emptydir b=emptydir --cpu 500m --memory 256M \
    --size 200M --set size=64M --time 1s --quick --max-blocks 2 --no-depth-check | kubectl apply -f - >/dev/null
  until_true 90 kubectl -n bench wait --for=condition=Complete job/iotax --timeout=1s || {
    kubectl -n bench logs job/iotax >&2
    fail "a comparison from inside of the cluster"
  }
  kubectl -n bench logs job/iotax >"$W/said"
  need "from inside of the cluster" "randread-4k: 2 blocks, 4 trials" "$W/said"
  kubectl -n bench delete job iotax --cascade=foreground --wait >/dev/null
  "$IOTAX" kube manifest --namespace bench | kubectl delete -f - >/dev/null
  nothing_left inside
  ! "$IOTAX" kube manifest --namespace bench -- compare --wokload a 2>"$W/said" || fail "a job with a misspelt option"
  need "a misspelt option of a job" "tip: a similar argument exists: '--workload'" "$W/said"
}

# A new user, with a cluster that has the image: what docs/kubernetes.md says, and nothing else.
part_first_verdict() {
  local began=$SECONDS
  "$IOTAX" kube manifest --namespace bench | kubectl apply -f - >/dev/null
  account
  release
  KUBECONFIG=$W/account "$IOTAX" kube compare -w randread-4k --namespace bench --size 200M \
    a=class:fast b=class:slow --out "$W/first" >"$W/said"
  local took=$((SECONDS - began))
  need "a verdict, $took s after nothing was there" " than a in throughput" "$W/said"
  grep -qE '^  b +throughput .* slower$' "$W/said" || { cat "$W/said"; fail "the first verdict is another"; }
  "$IOTAX" kube manifest --namespace bench | kubectl delete -f - >/dev/null
  nothing_left "the first verdict"
}
