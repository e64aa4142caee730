#!/usr/bin/env bash
# Builds what tests/k8s/cluster.sh needs, without a container registry: one program `kube` (etcd,
# kube-apiserver, kube-controller-manager, kube-scheduler, kube-dns, kubelet, kube-proxy, kubectl) from
# Go modules, and the image that holds a pod's namespaces. About ten minutes on two cores; what was
# built from the same sources, flags and Go is not built again.
#
# usage: [BIN=DIR] [CACHE=DIR] [IMAGES_DIR=DIR] build.sh      (defaults below /tmp/k8s)
# BIN (140 MB) is worth keeping between runs; CACHE (3.4 GB) is not needed once it is built.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
BIN=${BIN:-/tmp/k8s/bin} CACHE=${CACHE:-/tmp/k8s/cache} IMAGES_DIR=${IMAGES_DIR:-/tmp/k8s/images}
PACKAGES="containerd runc containernetworking-plugins nftables iptables conntrack socat iproute2
  openssl util-linux bc jq e2fsprogs fuse3 gcc libc6-dev"

missing=$(for package in $PACKAGES; do
  [ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" = "install ok installed" ] || echo "$package"
done)
if [ -n "$missing" ]; then
  # shellcheck disable=SC2086
  apt-get install -y --no-install-recommends $missing
fi

# --- the program -----------------------------------------------------------------
version=$(sed -n 's/^\tk8s.io\/kubernetes v//p' "$HERE/kube/go.mod")
at=k8s.io/component-base/version
ldflags="-s -w -X $at.gitVersion=v$version -X $at.gitMajor=1 -X $at.gitMinor=$(cut -d. -f2 <<<"$version")"
ldflags+=" -X k8s.io/client-go/pkg/version.gitVersion=v$version"
# Without DWARF the build cache is smaller, and compiling and linking take less time.
gcflags=all=-dwarf=false
export GOMODCACHE=$CACHE/mod GOCACHE=$CACHE/build GOTOOLCHAIN=local CGO_ENABLED=0
export GOFLAGS="-trimpath -buildvcs=false -mod=readonly -modcacherw"
key=$(cat "$HERE"/kube/{go.mod,go.sum,main.go,dns.go} <(go version) <(echo "$ldflags $gcflags $GOFLAGS") |
  sha256sum | cut -c1-16)
if [ "$(cat "$BIN/.key" 2>/dev/null)" = "$key" ]; then
  echo "kube v$version is built ($key)"
else
  mkdir -p "$BIN"
  (cd "$HERE/kube" && go build -gcflags "$gcflags" -ldflags "$ldflags" -o "$BIN/kube" .)
  echo "$key" >"$BIN/.key"
fi

# --- the image of pods' sandboxes --------------------------------------------------
[ -e "$IMAGES_DIR/pause.tar" ] || "$HERE/pause.sh" "$IMAGES_DIR/pause.tar"
