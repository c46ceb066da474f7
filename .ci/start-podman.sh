#!/usr/bin/env bash
# Installs Podman from Debian's packages where it is missing and starts its Docker-compatible socket with the test images
# of .ci/start-docker.sh, which must have run before. Idempotent. Prints the environment that the engine tests read.
set -euo pipefail

state=${SLUICE_TEST_STATE:-/tmp/sluice-podman}
docker=${SLUICE_TEST_DOCKER_SOCKET:-/tmp/sluice-docker/docker.sock}
socket=$state/podman.sock

if ! command -v podman >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  apt-get install -y -qq --no-install-recommends podman >&2
fi
mkdir -p "$state"

answers() { curl -sf --unix-socket "$socket" http://localhost/_ping >/dev/null 2>&1; }

if ! answers; then
  rm -f "$socket"
  # Its own default limits are higher than this process may set, and there is no systemd.
  printf '[containers]\ndefault_ulimits = []\n[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n' >"$state/containers.conf"
  # Its monitors leave a file `oom` in their working directory when a container runs out of memory.
  cd "$state"
  CONTAINERS_CONF=$state/containers.conf setsid nohup podman --root "$state/root" --runroot "$state/run" \
    system service --time=0 "unix://$socket" >"$state/podman.log" 2>&1 </dev/null &
  for _ in $(seq 60); do
    answers && break
    sleep 0.5
  done
fi
answers || { echo "Podman's socket did not come up; its last lines:" >&2; tail -20 "$state/podman.log" >&2; exit 1; }

for image in sluice-test:1 sluice-node:1; do
  if ! curl -sf --unix-socket "$socket" "http://localhost/images/$image/json" >/dev/null; then
    curl -sf --unix-socket "$docker" "http://localhost/images/$image/get" |
      curl -sf --unix-socket "$socket" -X POST -H 'Content-Type: application/x-tar' --data-binary @- http://localhost/images/load >&2
  fi
done

echo "SLUICE_TEST_PODMAN_SOCKET=$socket"
