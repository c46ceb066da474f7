#!/usr/bin/env bash
# Installs Docker Engine from Debian's packages where it is missing, starts it on a socket of its own and makes the
# test image from busybox. Idempotent. Prints the environment that the engine tests read.
set -euo pipefail

state=${SLUICE_TEST_STATE:-/tmp/sluice-docker}
socket=$state/docker.sock

if ! command -v dockerd >/dev/null || ! [ -x /bin/busybox ] || ! command -v docker-registry >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  apt-get install -y -qq --no-install-recommends docker.io busybox-static docker-registry >&2
fi
mkdir -p "$state"

answers() { curl -sf --unix-socket "$socket" http://localhost/_ping >/dev/null 2>&1; }

if ! answers; then
  rm -f "$socket" "$state/docker.pid" "$state/exec/containerd/containerd.pid"
  # No bridge and no firewall rules: containers use the host's network, as the protocol demands.
  setsid nohup dockerd --host "unix://$socket" --data-root "$state/data" --exec-root "$state/exec" \
    --pidfile "$state/docker.pid" --bridge none --iptables=false --ip-masq=false --live-restore \
    >"$state/dockerd.log" 2>&1 </dev/null &
  for _ in $(seq 120); do
    answers && break
    sleep 0.5
  done
fi
answers || { echo "dockerd did not come up; its last lines:" >&2; tail -20 "$state/dockerd.log" >&2; exit 1; }

# The test image: busybox-static and its applets, imported as a tar stream.
if ! curl -sf --unix-socket "$socket" http://localhost/images/sluice-test:1/json >/dev/null; then
  root=$(mktemp -d)
  mkdir -p "$root/bin" "$root/tmp" "$root/etc" "$root/in" "$root/out" "$root/proc" "$root/dev" "$root/sys"
  cp /bin/busybox "$root/bin/busybox"
  for applet in $(/bin/busybox --list | grep -vx busybox); do ln -sf busybox "$root/bin/$applet"; done
  echo 'root:x:0:0:root:/:/bin/sh' >"$root/etc/passwd"
  chmod 1777 "$root/tmp"
  tar -C "$root" -c . | curl -sf --unix-socket "$socket" -X POST -H 'Content-Type: application/x-tar' \
    --data-binary @- 'http://localhost/images/create?fromSrc=-&repo=sluice-test&tag=1' >&2
  rm -rf "$root"
fi

# A registry to pull from, on loopback.
registry=127.0.0.1:16850
if ! curl -sf "http://$registry/v2/" >/dev/null; then
  mkdir -p "$state/registry"
  cat >"$state/registry.yml" <<CONF
version: 0.1
storage: { filesystem: { rootdirectory: $state/registry }, delete: { enabled: true } }
http: { addr: $registry }
CONF
  setsid nohup docker-registry serve "$state/registry.yml" >"$state/registry.log" 2>&1 </dev/null &
  for _ in $(seq 40); do
    curl -sf "http://$registry/v2/" >/dev/null && break
    sleep 0.25
  done
fi
if ! curl -sf "http://$registry/v2/pulled/manifests/1" >/dev/null; then
  api=http://localhost
  curl -sf --unix-socket "$socket" -X POST "$api/images/sluice-test:1/tag?repo=$registry/pulled&tag=1"
  curl -sf --unix-socket "$socket" -X POST -H 'X-Registry-Auth: e30=' "$api/images/$registry/pulled/push?tag=1" >&2
  curl -sf --unix-socket "$socket" -X DELETE "$api/images/$registry/pulled:1" >&2
fi

# And one with this machine's Node.js and what it is linked to, for the examples.
if ! curl -sf --unix-socket "$socket" http://localhost/images/sluice-node:1/json >/dev/null; then
  root=$(mktemp -d)
  node=$(readlink -f "$(command -v node)")
  mkdir -p "$root/bin" "$root/tmp" "$root/etc"
  cp /bin/busybox "$root/bin/busybox"
  for applet in $(/bin/busybox --list | grep -vx busybox); do ln -sf busybox "$root/bin/$applet"; done
  echo 'root:x:0:0:root:/:/bin/sh' >"$root/etc/passwd"
  chmod 1777 "$root/tmp"
  cp "$node" "$root/bin/node"
  ldd "$node" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
  tar -C "$root" -c . | curl -sf --unix-socket "$socket" -X POST -H 'Content-Type: application/x-tar' \
    --data-binary @- 'http://localhost/images/create?fromSrc=-&repo=sluice-node&tag=1' >&2
  rm -rf "$root"
fi

echo "SLUICE_TEST_DOCKER_NODE_IMAGE=sluice-node:1"
echo "SLUICE_TEST_DOCKER_REGISTRY=$registry"
echo "SLUICE_TEST_DOCKER_STATE=$state"
echo "SLUICE_TEST_DOCKER_SOCKET=$socket"
echo "SLUICE_TEST_DOCKER_IMAGE=sluice-test:1"
