# The launcher without a compiler: reads `<path of a request>` lines and starts each request in a session of its own.
# The service started it; each container outlives it. See container.sh for what a request is.
exec 2>/dev/null
# Whatever the service left open is none of the containers' business.
for file in /proc/$$/fd/*; do
  file=${file##*/}
  if [ "$file" -gt 2 ] && [ "$file" -ne 255 ]; then
    if [ "$file" -le 9 ] || [ -n "$BASH_VERSION" ]; then eval "exec $file>&-"; fi
  fi
done
while IFS= read -r request; do
  setsid sh "$request" outer </dev/null &
done
