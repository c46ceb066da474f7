#!/usr/bin/env bash
# Installs, from Debian's packages, the real clients and tools that tests talk to. Idempotent.
set -euo pipefail

packages=(
  # WebDAV and SFTP; a WebDAV server of others, and certificates, for the client's tests
  litmus cadaver curl jq rclone davfs2 lftp openssh-client sshfs apache2 openssl
  # the operator's guide, followed under a systemd of its own
  systemd dbus iproute2
  # pages
  chromium chromium-headless-shell
  # a program that starts others, in steps
  openmpi-bin
  # what connects the tasks of a step on Slurm, whose plugin for PMIx opens libpmix.so: that is in the second one
  libpmi2-0-dev libpmix-dev
  # compiler of the process engine's launcher
  gcc libc6-dev
  # the launcher for arm64, and what runs it here
  gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
)

# Checks the metrics. Unpacked from the package of Prometheus, whose daemon would start under the operator's systemd.
install_promtool() {
  local directory
  directory=$(mktemp -d)
  (cd "$directory" && apt-get download -qq prometheus && dpkg-deb -x prometheus_*.deb .)
  install "$directory/usr/bin/promtool" /usr/local/bin/promtool
  rm -rf "$directory"
}

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && command -v promtool >/dev/null && exit 0

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
[ ${#missing[@]} -eq 0 ] || apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
command -v promtool >/dev/null || install_promtool
