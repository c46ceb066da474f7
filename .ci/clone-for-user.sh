#!/usr/bin/env bash
# Makes an ordinary user and a fresh clone of this commit in its home, as somebody has it who tries Sluice. Prints where.
set -euo pipefail
cd "$(dirname "$0")/.."
user=sluice-ci

id "$user" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$user"
clone=$(getent passwd "$user" | cut -d: -f6)/sluice
rm -rf "$clone"
git -c safe.directory='*' clone --quiet --no-hardlinks . "$clone" >&2
chown -R "$user:" "$clone"
echo "$clone"
