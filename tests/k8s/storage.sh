#!/usr/bin/env bash
# Volumes with known limits for tests/k8s: virtual disks in memory, throttled by iotax, under ext4.
# usage: storage.sh up NAME=IOPS...     mounts each at $STORAGE/NAME; those called raw-N have no file
#                                       system, and $STORAGE/NAME is a link to the device
#        storage.sh down
set -euo pipefail
IOTAX=${IOTAX:?the program} STORAGE=${STORAGE:?a directory}

up() {
  mkdir -p "$STORAGE/disks"
  local disks=() pair name device
  for pair in "$@"; do
    mkdir -p "$STORAGE/disks/${pair%=*}"
    disks+=("$STORAGE/disks/${pair%=*}=mem(size=256M) + throttle(iops=${pair#*=})")
  done
  "$IOTAX" disk up "${disks[@]}" >/dev/null
  for pair in "$@"; do
    name=${pair%=*}
    # Past the page cache, which would answer in place of the disk.
    device=$(losetup --find --show --direct-io=on "$STORAGE/disks/$name/disk")
    [[ $name != raw-* ]] || { ln -s "$device" "$STORAGE/$name"; continue; }
    mkfs.ext4 -q -m 0 -E lazy_itable_init=0 "$device"
    mkdir -p "$STORAGE/$name"
    mount "$device" "$STORAGE/$name"
  done
}

down() {
  local disk device disks=()
  for disk in "$STORAGE"/disks/*; do
    # By the mounts and the kernel's list: the server of a disk may have been killed.
    grep -qF " $disk " /proc/self/mounts || continue
    disks+=("$disk")
    ! mountpoint -q "$STORAGE/${disk##*/}" || umount "$STORAGE/${disk##*/}"
    for device in $(losetup --noheadings --output NAME,BACK-FILE | awk -v f="$disk/disk" '$2 == f { print $1 }'); do
      losetup -d "$device"
    done
  done
  # The kernel lets go of a loop device when the last container that saw its mount is gone.
  for _ in $(seq 50); do
    ! losetup --noheadings --output BACK-FILE | grep -qF "$STORAGE/disks/" || sleep 0.2
  done
  # A mount namespace that was made meanwhile, by whomever, has copies of the mounts: nobody uses them.
  [ ${#disks[@]} = 0 ] || "$IOTAX" disk down --force "${disks[@]}" >/dev/null || "$IOTAX" undo
  rm -rf --one-file-system "$STORAGE"
}

"$@"
