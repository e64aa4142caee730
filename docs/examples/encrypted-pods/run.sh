#!/bin/sh
# The network cells of two clouds with and without an encrypted pod network, in small: TCP and UDP, to a pod
# and to a Service, each measured three times, kept, and compared from what was kept.
#
#     docs/examples/encrypted-pods/run.sh DIRECTORY
#
# DIRECTORY: for the results. As root; needs iotax, nft, tc, and wg with the kernel's WireGuard or wireguard-go.
set -eu

results=${1:?usage: run.sh DIRECTORY}
mkdir -p "$results"
cd "$results"

# A cloud here is what it lets a VM send.
measure() {
    iotax compare --quiet --workload "$2" pod="$3" service="$3 + dnat" --time 2s --ramp 500ms \
        --max-blocks 1 --out "$1" >/dev/null
}
for round in 1 2 3; do
    for load in tcp-stream udp-stream; do
        measure "aks-$load-$round" $load 'netns + tbf(rate=200Mbit)'
        measure "c-azure-$load-$round" $load 'netns + tbf(rate=200Mbit) + wireguard'
        measure "gke-$load-$round" $load 'netns + tbf(rate=100Mbit)'
        measure "c-gcp-$load-$round" $load 'netns + tbf(rate=100Mbit) + wireguard'
    done
done

of() {
    printf '%s=' "$1"
    printf '%s,' "$1"-tcp-stream-1 "$1"-tcp-stream-2 "$1"-tcp-stream-3 "$1"-udp-stream-1 "$1"-udp-stream-2
    printf '%s' "$1"-udp-stream-3
}
iotax compare --pair aks,c-azure --pair gke,c-gcp --out report \
    "$(of aks)" "$(of c-azure)" "$(of gke)" "$(of c-gcp)"
