#!/usr/bin/env bash
# Installs, from Debian's packages, the real clients and tools that tests talk to. Idempotent.
set -euo pipefail

packages=(
  # WebDAV and SFTP; a WebDAV server of others, and certificates, for the client's tests
  litmus cadaver curl rclone davfs2 lftp openssh-client sshfs apache2 openssl
  # the operator's guide, followed under a systemd of its own
  systemd dbus iproute2
  # pages
  chromium
  # compiler of the process engine's launcher
  gcc libc6-dev
  # the launcher for arm64, and what runs it here
  gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
