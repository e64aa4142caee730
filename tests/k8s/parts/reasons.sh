# Why pods do not start. Sourced by try.sh.

part_reasons() {
  refused "an image that is not there" "its image cannot be pulled" \
    a=class:fast b=class:slow --image localhost/iotax:none
  refused "an image that has no such program" "it has ended" a=emptydir b=emptydir --image localhost/pause:1
  CPU=64 WAIT=4s refused "too many CPUs" "Insufficient cpu" a=emptydir b=emptydir
  WAIT=4s refused "a class that is not there" '"none" not found' a=class:none b=class:fast
  SIZE=1T WAIT=4s refused "a volume that is too large" "there is no volume for its claim" a=class:fast b=class:slow
  NAMESPACE=none refused "a namespace that is not there" 'namespaces "none" not found' a=emptydir b=emptydir
  kubectl -n bench create quota small --hard=pods=1 >/dev/null
  until_true 20 kubectl -n bench wait --for=jsonpath='{.status.hard.pods}'=1 quota/small --timeout=1s
  refused "a quota" "exceeded quota: small" a=emptydir b=emptydir
  kubectl -n bench delete quota small >/dev/null
}
