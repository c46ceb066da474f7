#!/usr/bin/env bash
# Usage: as-user.sh CLONE COMMAND...   in the clone and as its owner. Nothing of root's environment is handed on but how to
# reach a package registry: no engines, and no CI, so that tests skip what is not there and try fewer seeds.
set -euo pipefail
clone=$1
shift
user=$(stat -c %U "$clone")
cd "$clone"
kept=()
while IFS= read -r line; do kept+=("$line"); done < <(
  env | grep -iE '^(npm_config_[a-z_]*|https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_file)=' || true
)
exec setpriv --reuid="$user" --regid="$user" --init-groups \
  env -i "HOME=$(dirname "$clone")" "USER=$user" "LOGNAME=$user" "PATH=$PATH" "LANG=${LANG:-C.UTF-8}" "${kept[@]}" "$@"
