#!/usr/bin/env bash
# Usage: test-without-namespaces.sh CLONE   (a built checkout of an ordinary user)
# End-to-end tests and those of the process engine where namespaces are forbidden: in a Docker container with the
# default profile, as root and as an ordinary user, and on this machine without user namespaces and capabilities. What a
# test needs beyond that, it skips.
set -euo pipefail
cd "$(dirname "$0")/.."
clone=$1
docker=(docker --host "unix://$SLUICE_TEST_DOCKER_SOCKET")
tests=(pnpm exec vitest run --project e2e --project service test/engines/process/)
# shellcheck source=.ci/places.sh
. .ci/places.sh

# The image is this machine's programs; nothing of it is in the image but the directories to mount them on.
make_image() {
  local root
  root=$(mktemp -d)
  mkdir -p "$root"/{usr,etc,proc,sys,dev,root,home,opt,srv,var}
  mkdir -m 1777 "$root/tmp" "$root/var/tmp"
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
  tar -C "$root" -c . | "${docker[@]}" import - sluice-machine:1 >/dev/null
  rm -rf "$root"
}

in_container() {
  local user=$1 checkout=$2
  shift 2
  "${docker[@]}" run --rm --network host --user "$user" --workdir "$checkout" --volume "$checkout:$checkout" \
    --volume /usr:/usr:ro --volume /etc:/etc:ro --env HOME=/tmp --env SLUICE_CRASH_KILLS --env SLUICE_EXAMPLE_NUMBERS \
    --env "PATH=$checkout/.tools/node_modules/.bin:$PATH" sluice-machine:1 "${tests[@]}" "$@"
}

make_image
# The host's user namespaces are still there: where a container could make one, this would test nothing.
if "${docker[@]}" run --rm --network host --volume /usr:/usr:ro sluice-machine:1 unshare --map-root-user true 2>/dev/null; then
  echo 'the default profile of Docker allows user namespaces here' >&2
  exit 1
fi
echo '== without namespaces: in a container, as root'
in_container 0:0 "$PWD" "${in_each_place[@]}"
echo '== without namespaces: in a container, as an ordinary user'
in_container "$(stat -c %u:%g "$clone")" "$clone" "${in_each_place[@]}"
# Here the launchers may make system calls that the container forbids; the rest is as for its ordinary user. The contract of
# engines is left out: on this machine, that user's tests have run it with the launchers of such places.
echo '== without namespaces: on this machine'
PATH="$clone/.tools/node_modules/.bin:$PATH" bash "$clone/.ci/as-user.sh" "$clone" env SLUICE_EXAMPLE_NUMBERS=false \
  unshare --map-root-user sh -c '
  echo 0 >/proc/sys/user/max_user_namespaces
  exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all "$@"' sh "${tests[@]}" --exclude '**/process-engine.test.ts' test/e2e/examples.test.ts
