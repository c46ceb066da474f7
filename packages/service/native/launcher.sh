# The launcher for machines without a compiler: reads lines `<path of a request>` and starts each request in its own
# session. It is started by the service, and containers outlive it. container.sh describes requests.
#
#   launcher.sh mapped|unmapped|none   `none`: it has no user namespace of its own to share with its containers;
#                                      `unmapped`: it prints `entered`, and continues when the service has mapped all users
#                                      and answered with a line
exec 2>/dev/null
# Containers must not inherit the service's descriptors.
for file in /proc/$$/fd/*; do
  file=${file##*/}
  if [ "$file" -gt 2 ] && [ "$file" -ne 255 ]; then
    if [ "$file" -le 9 ] || [ -n "$BASH_VERSION" ]; then eval "exec $file>&-"; fi
  fi
done
if [ "$1" = unmapped ]; then
  echo entered
  read -r _ || exit 1
fi
# Prevents descendants from creating a user namespace, in which they could mount the host's cgroups.
if [ "$1" != none ]; then echo 0 >/proc/sys/user/max_user_namespaces; fi
while IFS= read -r request; do
  setsid sh "$request" outer </dev/null &
done
