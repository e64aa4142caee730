#!/usr/bin/env bash
# Writes localhost/pause:1 as an OCI archive: a static program that waits, and reaps what it inherits.
# usage: pause.sh OUT.tar
set -euo pipefail
OUT=$1
W=$(mktemp -d)
trap 'rm -rf "$W"' EXIT
mkdir -p "$(dirname "$OUT")" "$W/rootfs" "$W/oci/blobs/sha256"

cat >"$W/pause.c" <<'C'
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static void down(int s) { (void)s; _exit(0); }
static void reap(int s) { (void)s; while (waitpid(-1, 0, WNOHANG) > 0) {} }
int main(void) {
  signal(SIGINT, down); signal(SIGTERM, down); signal(SIGCHLD, reap);
  for (;;) pause();
}
C
gcc -Os -static -s -o "$W/rootfs/pause" "$W/pause.c"

# Keeps standard input as a blob; prints its digest and size.
blob() {
  local file digest
  file=$(mktemp -p "$W")
  cat >"$file"
  digest=$(sha256sum <"$file" | cut -d' ' -f1)
  mv "$file" "$W/oci/blobs/sha256/$digest"
  echo "$digest $(stat -c %s "$W/oci/blobs/sha256/$digest")"
}
type=application/vnd.oci.image
architecture=$(dpkg --print-architecture)
# Each is waited for: the next one has its digest in it.
kept=$(tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$W/rootfs" -cf - . | blob)
read -r layer layer_size <<<"$kept"
kept=$(blob <<J
{"architecture":"$architecture","os":"linux","config":{"Cmd":["/pause"]},
 "rootfs":{"type":"layers","diff_ids":["sha256:$layer"]}}
J
)
read -r config config_size <<<"$kept"
kept=$(blob <<J
{"schemaVersion":2,"mediaType":"$type.manifest.v1+json",
 "config":{"mediaType":"$type.config.v1+json","digest":"sha256:$config","size":$config_size},
 "layers":[{"mediaType":"$type.layer.v1.tar","digest":"sha256:$layer","size":$layer_size}]}
J
)
read -r manifest manifest_size <<<"$kept"
cat >"$W/oci/index.json" <<J
{"schemaVersion":2,"manifests":[{"mediaType":"$type.manifest.v1+json",
 "digest":"sha256:$manifest","size":$manifest_size,
 "annotations":{"io.containerd.image.name":"localhost/pause:1","org.opencontainers.image.ref.name":"1"}}]}
J
printf '{"imageLayoutVersion":"1.0.0"}' >"$W/oci/oci-layout"
tar -C "$W/oci" -cf "$OUT" oci-layout index.json blobs
