# Volumes that are somebody's, and volumes without a file system. Sourced by try.sh.

# A claim that is there, with data, in use by a pod of its user's: what is on it stays as it is.
part_claim() {
  kubectl apply -f - >/dev/null <<Y
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: bench}
spec: {storageClassName: slow, accessModes: [ReadWriteOnce], resources: {requests: {storage: 100Mi}}}
Y
  everything >"$W/before"
  local data=$STORAGE/slow-1
  mkdir "$data/theirs"
  echo precious >"$data/theirs/file"
  chown 65532:65532 "$data"
  listed() { find "$data" ! -path '*/lost+found*' -printf '%p %U:%G %m %y\n' | sort; }
  listed >"$W/theirs"
  refused "a claim that nobody gave" "add --write-to pvc:data" a=pvc:data b=emptydir
  refused "consent for what no arm is on" "--write-to pvc:other: no arm uses this volume" \
    a=pvc:data b=emptydir --write-to pvc:data --write-to pvc:other
  refused "a claim that is not there" "there is no claim none in namespace bench" \
    a=pvc:none b=emptydir --write-to pvc:none
  refused "a claim of another namespace" "run this there: --namespace other" \
    a=pvc:other/data b=emptydir --write-to pvc:other/data
  compare mine=pvc:data new=class:fast --write-to pvc:data --out "$W/claim" >"$W/said"
  need "a claim that is there is measured" "in Kubernetes: pvc:data, volume slow-1, node n1" "$W/claim/experiment.json"
  left_as_it_was() { diff <(listed) "$W/theirs"; }
  left_as_it_was || fail "claim: what is on it has changed"
  nothing_left claim
  begun claimed mine=pvc:data new=class:fast --write-to pvc:data
  kill -KILL "$running"
  wait "$shell" || true
  "$IOTAX" undo --cluster --namespace bench >"$W/said"
  left_as_it_was || fail "claim, kill -9: what is on it has changed"
  grep -q precious "$data/theirs/file"
  nothing_left "a claim that is there, kill -9, and undo"
  # Somebody removes its pod: a trial fails, the next one is in another pod.
  begun evicted mine=pvc:data new=class:fast --write-to pvc:data
  kubectl -n bench delete pod -l app.kubernetes.io/managed-by=iotax --wait=false >/dev/null
  wait "$shell" || { cat "$W/said"; fail "evicted: exit code $?"; }
  need "a pod that is gone is said" "creating another one" "$W/said"
  need "and the run goes on to its verdict" "new is " "$W/said"
  left_as_it_was || fail "claim, pods removed: what is on it has changed"
  nothing_left "pods that were removed"
  kubectl -n bench delete pvc data >/dev/null
  everything >"$W/before"
  rm -r "$data/theirs"
}

part_hostpath() {
  local theirs=$STORAGE/fast-1/app
  mkdir "$theirs"
  echo precious >"$theirs/file"
  refused "a directory of no node" "needs a node name" a=hostpath:$theirs b=emptydir --write-to "hostpath:$theirs"
  refused "a directory of a node, under Pod Security" 'violates PodSecurity "restricted' \
    "a=hostpath:$theirs@n1" b=emptydir --write-to "hostpath:$theirs"
  kubectl create namespace loose >/dev/null
  everything >"$W/before"
  until_true 30 kubectl -n loose get serviceaccount default
  NAMESPACE=loose refused "a directory that its user may not write to" "with --user UID" \
    "a=hostpath:$theirs@n1" b=emptydir@n1 --write-to "hostpath:$theirs"
  chown 65532 "$theirs"
  NAMESPACE=loose compare "a=hostpath:$theirs@n1" b=emptydir@n1 --write-to "hostpath:$theirs" \
    --quick --max-blocks 2 --out "$W/hostpath" >"$W/said"
  need "a directory of a node is measured" "hostpath:$theirs, node n1" "$W/hostpath/experiment.json"
  [ "$(ls -A "$theirs")" = file ] || fail "hostpath: $(ls -A "$theirs")"
  nothing_left hostpath
  kubectl delete namespace loose >/dev/null
  everything >"$W/before"
  rm -r "$theirs"
}

part_block() {
  compare raw=block:raw ext4=class:fast --quick --max-blocks 2 --out "$W/block" >"$W/said"
  need "a volume without a file system is measured" "block:raw, volume raw-1, node n1" "$W/block/experiment.json"
  nothing_left block
}
