# Runs a container with util-linux and sh: sourced by a request, a file that the service writes for each container:
#
#   id, directory, log, cwd, memory_kb, masks   variables
#   isolated    1, or empty without namespaces: then `plain` replaces `inner`, and nothing is mounted
#   volumes()   calls `volume <root> <sub path> <dir|file> <target> <ro|rw> <0|1>` for each mount, outer ones first
#   targets()   calls `target <dir|file> <path>` for each mount point outside of /tmp and other volumes
#   run()       executes the command in its environment, prefixed by the arguments
#   search()    fails if the command is not found
#
# The outer part sees the host and writes the records (see container-record.h); the inner part is PID 1 of the
# container, creates its file system, starts the command and forwards SIGTERM.

# Host PID and start time of the calling shell, as `pid ticks`. Command names may contain spaces and parentheses.
identity() {
  IFS= read -r stat </proc/self/stat
  pid=${stat%% *}
  set -- ${stat##*) }
  shift 19
  ticks=$1
}

# Some versions of `date` do not support fractions of a second.
now() {
  time=$(date +%s%3N)
  case $time in *[!0-9]*) time=$(date +%s)000 ;; esac
  printf %s "$time"
}

# In a separate process, because SIGPIPE must not end this one if the service does not listen.
tell() { (printf '%s\n' "$*" >&9) }

# The inode of the spare file is for the record, if the disk has no other.
record() {
  ln -sn "$*" "$directory/exit" || { rm -f "$directory/spare"; ln -sn "$*" "$directory/exit"; } && tell "ended $id $*"
  rm -f "$directory/spare"
}

outer() {
  exec 9>&1 >>"$log" 2>&1
  identity
  IFS= read -r boot </proc/sys/kernel/random/boot_id
  boot=$(printf %s "$boot" | tr -d - | cut -c 1-16)
  : >"$directory/spare"
  if ! ln -sn "$pid $ticks $boot" "$directory/claim" 2>/dev/null; then
    tell "exists $id"
    exit 0
  fi
  tell "claimed $id $pid $ticks $boot"
  mkdir -p "$directory/root" "$directory/tmp" && chmod 700 "$directory/tmp"
  # A pipe instead of the log itself: a command that opens its output by name would truncate the log. The copy ends with the
  # last process of the namespace, and a full disk does not end it.
  mkfifo "$directory/output"
  { cat || cat >/dev/null; } <"$directory/output" &
  if [ -n "$isolated" ]; then
    unshare --mount --pid --fork --kill-child sh "$0" inner >"$directory/output" 2>&1
    code=$?
  else
    sh "$0" plain >"$directory/output" 2>&1
    code=$?
    end_rest
  fi
  wait $!
  started=$(readlink "$directory/started" || now)
  rejection=$(readlink "$directory/rejection")
  if [ -n "$rejection" ]; then record "rejected $(now) $rejection"
  elif [ -L "$directory/stop" ]; then record "stopped $started $(now)"
  elif [ ! -L "$directory/started" ]; then record "rejected $(now) could not prepare the container (code $code)"
  else # sh does not say whether 137 was a signal or the command's own wish
    record "exited $code 0 0 $started $(now)"
  fi
  rm -rf "$directory/root" "$directory/output" "$directory/first" "$directory/started" "$directory/rejection"
  tell "gone $id"
}

# Kills remaining processes, which are marked unless they have cleared their environment.
end_rest() {
  found=1
  while [ -n "$found" ]; do
    found=
    # One program looks at all processes, since each costs milliseconds. It also finds marks that only begin with this one.
    for entry in $(grep -lsF "SLUICE_CONTAINER=$directory" /proc/[0-9]*/environ); do
      if tr '\000' '\n' <"$entry" | grep -qxF "SLUICE_CONTAINER=$directory" && entry=${entry#/proc/} && kill -KILL "${entry%/environ}"; then found=1; fi
    done 2>/dev/null
  done
}

# The service reads one line, but names may contain newlines.
reject() {
  ln -sn "$(printf %.1000s "$*" | tr '\001-\037' '?')" "$directory/rejection"
  exit 1
}

bind_entry() {
  if [ -L "$1" ]; then
    cp -P "$1" "$2"
  elif [ -d "$1" ]; then
    mkdir -p "$2" && { mount --rbind "$1" "$2" || true; }
  elif [ -f "$1" ]; then
    : >"$2" && mount --bind "$1" "$2"
  fi
}

# Recreates a directory of the host in a tmpfs, with all its entries bound, so that entries can be added.
cover() {
  mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root$1" || reject "could not make mount points in '$1'"
  for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    if [ -e "$entry" ] || [ -L "$entry" ]; then bind_entry "$entry" "$root$entry"; fi
  done
}

target() {
  case $2 in /*/*) above=${2%/*} ;; *) above=/ ;; esac
  point=$root$2
  if [ ! -e "$point" ]; then
    while [ ! -d "$root$above" ]; do
      above=${above%/*}
      above=${above:-/}
    done
    if ! mkdir -p "$point.sluice" 2>/dev/null; then cover "$above"; fi
    rmdir "$point.sluice" 2>/dev/null
    mkdir -p "${point%/*}" || reject "could not make the mount point '$2'"
    if [ "$1" = dir ]; then mkdir "$point"; else : >"$point"; fi || reject "could not make the mount point '$2'"
  elif [ "$1" = dir ] && [ ! -d "$point" ]; then
    reject "could not mount at '$2': it is not a directory"
  elif [ "$1" = file ] && [ -d "$point" ]; then
    reject "could not mount at '$2': it is a directory"
  fi
}

# Hides directories of the host. Follows `targets`, which recreates directories with all entries, and precedes it for mount
# points in the empty directories.
mask() {
  while IFS= read -r entry; do
    if [ -n "$entry" ] && [ -d "$root$entry" ]; then
      mount -t tmpfs -o mode=755,size=4k tmpfs "$root$entry" || reject "could not hide '$entry'"
    fi
  done <<MASKS
$masks
MASKS
}

make_read_only() {
  while read -r _ _ _ _ point options _; do
    case $point in *\\*) point=$(printf %b "$point") ;; esac
    case $point in
      "$root" | "$root"/*) mount -o "remount,bind,$options,nosuid,nodev,ro" "$point" 2>/dev/null ;;
    esac
  done </proc/self/mountinfo
}

# The source is opened and then checked, and the opened file is mounted: a link that is changed in the meantime has no
# effect.
volume() {
  where=$(readlink -f "$1") || reject "could not open the volume at '$1'"
  { exec 8<"$1/$2"; } 2>/dev/null || reject "could not mount '$2' of a volume: no such $3"
  opened=$(readlink /proc/self/fd/8)
  case $opened in
    "$where" | "$where"/*) ;;
    *) reject "could not mount '$2': it leads out of its volume" ;;
  esac
  if [ "$3" = dir ] && [ ! -d /proc/self/fd/8/. ]; then reject "could not mount '$2' at '$4': it is not a directory"; fi
  if [ "$3" = file ] && [ ! -f /proc/self/fd/8 ]; then reject "could not mount '$2' at '$4': it is not a file"; fi
  if [ "$6" = 1 ]; then
    if [ "$3" = dir ]; then mkdir -p "$root$4"; else mkdir -p "$root${4%/*}" && : >>"$root$4"; fi
  fi
  mount --no-canonicalize --bind /proc/self/fd/8 "$root$4" || reject "could not mount '$2' at '$4'"
  exec 8<&-
  if [ "$5" = ro ]; then
    # An ordinary user must repeat the options of the file system. Tries the usual ones instead of reading all mounts each
    # time.
    quick='mount --no-canonicalize --options-source=disable -o remount,bind,ro,nosuid,nodev'
    $quick "$root$4" || $quick,noexec "$root$4" || reject "could not make '$4' read-only"
  fi
}

make_root() {
  mount --make-rprivate / || reject 'could not make mounts private'
  mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root" || reject 'could not make a root'
  for entry in /* /.[!.]*; do
    case $entry in
      /proc | /dev | /tmp | /run | /lost+found) ;;
      *) if [ -e "$entry" ] || [ -L "$entry" ]; then bind_entry "$entry" "$root$entry"; fi ;;
    esac
  done
  mkdir -p "$root/proc" "$root/dev/shm" "$root/tmp" "$root/run/lock"
  for entry in /run/systemd/resolve /run/NetworkManager /run/resolvconf /run/current-system /run/wrappers; do
    if [ -d "$entry" ]; then mkdir -p "$root$entry" && mount --rbind "$entry" "$root$entry"; fi
  done
  for entry in null zero full random urandom tty; do : >"$root/dev/$entry"; done
  ln -s /proc/self/fd "$root/dev/fd"
  for entry in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${entry%:*}" "$root/dev/${entry#*:}"; done
  targets
  mask
  targets
  make_read_only
  for entry in null zero full random urandom tty; do mount --bind "/dev/$entry" "$root/dev/$entry"; done
  mount --bind "$directory/tmp" "$root/tmp" && mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/dev/shm"
  volumes
  # Many of its files belong to the host's root, who could write to them without permissions.
  if [ "$(id -u)" = 0 ]; then mode=ro; else mode=rw; fi
  mount -t proc -o "nosuid,nodev,noexec,$mode" proc "$root/proc" ||
    { mount --rbind /proc "$root/proc" && mount -o "remount,bind,nosuid,nodev,noexec,$mode" "$root/proc"; } ||
    reject 'could not make /proc'
}

# Rejects a command that does not exist or is not executable. The arguments begin a command that runs in the container's
# view. Some shells' `command -v` does not check whether a path is executable.
check_start() {
  case $name in
    */*) ;;
    *)
      ("$@" sh -c "$(search)" >/dev/null 2>&1) || reject "could not start '$name': no such command in PATH (127)"
      return
      ;;
  esac
  ("$@" sh -c 'cd "$0" && [ -x "$1" ] && [ ! -d "$1" ]' "$cwd" "$name" 2>/dev/null) && return
  if ("$@" sh -c 'cd "$0" && [ -d "$1" ]' "$cwd" "$name" 2>/dev/null); then
    reject "could not start '$name': it is a directory (126)"
  elif ("$@" sh -c 'cd "$0" && [ -e "$1" ]' "$cwd" "$name" 2>/dev/null); then
    reject "could not start '$name': permission denied: it must be executable (chmod +x) (126)"
  fi
  reject "could not start '$name': No such file or directory (127)"
}

inner() {
  exec 9>&-
  trap 'stopping=1; if [ -n "$command" ]; then kill -TERM "$command"; fi' TERM
  stopping= command=
  identity
  ln -sn "$pid $ticks" "$directory/first"
  root=$directory/root
  make_root 2>/dev/null
  rm -f "$0"
  # The last access to the host: after the pivot the records cannot be reached.
  check_start chroot "$root"
  ln -sn "$(now)" "$directory/started"
  cd "$root" && pivot_root . . && umount -l . && cd "$cwd" || exit 1
  if [ "$(id -u)" = 0 ]; then kept=+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+net_bind_service,+sys_chroot; else kept=; fi
  supervise "$(command -v setpriv)" --no-new-privs --inh-caps=-all --ambient-caps=-all "--bounding-set=-all${kept:+,$kept}" --
}

plain() {
  exec 9>&-
  trap 'stopping=1; if [ -n "$command" ]; then kill -TERM "$command"; fi' TERM
  stopping= command=
  identity
  ln -sn "$pid $ticks" "$directory/first"
  rm -f "$0"
  check_start
  ln -sn "$(now)" "$directory/started"
  cd "$cwd" || exit 1
  supervise
}

# Runs the command until it ends, prefixed by the arguments.
supervise() {
  if [ "$memory_kb" -gt 0 ]; then limit=$memory_kb; else limit=unlimited; fi
  (
    trap - TERM
    ulimit -d "$limit"
    run "$@"
  ) &
  command=$!
  if [ -n "$stopping" ]; then kill -TERM "$command"; fi
  while :; do
    wait "$command"
    code=$?
    # A signal can interrupt the wait before the command ends.
    kill -0 "$command" 2>/dev/null || break
  done
  exit "$code"
}

"$1"
