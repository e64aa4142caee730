#!/usr/bin/env bash
# Runs a program, and again whenever it has ended, as a service manager does.
# usage: again.sh CMD...
while :; do
  "$@"
  echo "ended with $?; again"
  sleep 3
done
