# The launcher without a compiler: reads `<path of a request>` lines and starts each request in a session of its own.
# The service started it; each container outlives it. See container.sh for what a request is.
#
#   launcher.sh mapped|unmapped|none   `none`: it is in no user namespace of its own, which its containers would share;
#                                      `unmapped`: it prints `entered`, and goes on when the service has mapped all users
#                                      and answered with a line
exec 2>/dev/null
# Whatever the service left open is none of the containers' business.
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
# No process beneath it can make a user namespace then, in which it could mount the host's cgroups.
if [ "$1" != none ]; then echo 0 >/proc/sys/user/max_user_namespaces; fi
while IFS= read -r request; do
  setsid sh "$request" outer </dev/null &
done
