import type { Launch } from '../engine.ts';
import { shellQuote as q, shellWords as words } from '../shell-quote.ts';
import { hostFileLines, tasksOf } from '../tasks-of.ts';
import { isHiddenVariable } from './is-hidden-variable.ts';
import { firstProcessLines } from './script-lines.ts';
import { type MpiOption, passedWords } from './slurm-mpi.ts';

/** File with the reason why the request cannot be met, shown to the user. */
export const REJECTION_RECORD = 'rejected';
/** File with the reason why the node could not set up the container: no fault of the request. */
export const FAULT_RECORD = 'fault';
/** File with the ID of the container's first process on the node. Empty until the container is set up. */
export const SETUP_RECORD = 'set-up';

/** Pipes by which a script that runs as root requests and awaits the mapping of all users, which only another process may do. */
export const UNMAPPED_FIFO = 'unmapped';
/** See `UNMAPPED_FIFO`. */
export const MAPPED_FIFO = 'mapped';

/** Capabilities of root in a container: changing owners and users, but not mounts. */
const ROOT_CAPABILITIES = '+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+net_bind_service,+sys_chroot';

/**
 * Devices in the private /dev. With the host's /dev, root could write to its disks, even through a read-only mount. Devices
 * that a node lacks are omitted.
 */
const DEVICES =
  '/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx /dev/pts /dev/shm ' +
  '/dev/fd /dev/stdin /dev/stdout /dev/stderr ' +
  '/dev/nvidia* /dev/dri /dev/kfd /dev/accel* /dev/infiniband /dev/hfi1_* /dev/knem /dev/xpmem /dev/gdrdrv';

/**
 * Entries of the private /run. On the host's /run, Munge, Docker and others listen, and would accept the container as the
 * user who runs it.
 */
const RUN =
  '/run/systemd /run/systemd/resolve /run/NetworkManager /run/resolvconf /run/connman /run/nscd ' +
  '/run/nvidia-persistenced /run/current-system /run/booted-system /run/wrappers /run/opengl-driver';

/** How the script depends on cluster and user. */
export interface SlurmHostRootOptions extends MpiOption {
  /** Host paths that appear empty inside. */
  readonly maskedPaths: readonly string[];
  /**
   * The job's user is root on the node: all users are mapped, and the kernel allows writing settings in /proc regardless of
   * capabilities.
   */
  readonly isRoot: boolean;
}

/** The shell functions that the script is composed of. They use `$d`, `$r` and `$points`. */
const FUNCTIONS = `end() { printf '%s' "$2" >"$d/.$1" && mv "$d/.$1" "$d/$1"; exit 125; }
reject() { end ${REJECTION_RECORD} "$1"; }
fail() { end ${FAULT_RECORD} "$1"; }

# Binds the entries of host directory $1, and the paths $5, read-only into $2, whose name in fstab is $3; $4 are further
# lines for fstab. One mount call for all entries, because forks are expensive here.
fill() {
  from=$1 to=$2 fstab=$3 more=$4 extra=$5 lines= links= files=
  set --
  for e in "$from"/* "$from"/.[!.]* $extra; do
    n="$to\${e#"$from"}"
    case "$e" in
    /proc | /tmp | /dev | /dev/pts | /dev/shm | /run | /run/systemd) set -- "$@" "$n" && continue ;;
    /dev/ptmx) files="$files $e" && continue ;;
    *[!A-Za-z0-9/._+@,=-]*) continue ;; # fstab cannot name it plainly
    esac
    if [ -L "$e" ]; then links="$links $e" && continue
    elif [ -d "$e" ]; then set -- "$@" "$n"
    elif [ -e "$e" ]; then files="$files $e"
    else continue
    fi
    lines="$lines$e $fstab\${e#"$from"} none rbind,ro 0 0
"
  done
  [ $# = 0 ] || mkdir -p "$@"
  for e in $files; do : >"$to\${e#"$from"}"; done
  [ -z "$links" ] || cp -P --parents $links "$r/"
  printf %s "$lines$more" >"$d/.fstab"
  mount --all --fstab "$d/.fstab"
}
# Creates the directory $1 in the new root. If its parent $2 (in fstab $3) belongs to the host, a tmpfs with the same entries
# covers the parent.
point() {
  [ -d "$r$1" ] || mkdir "$r$1" || { mount -t tmpfs tmpfs "$r$2" && { fill "$2" "$r$2" "$3"; freeze_host "$3"; mkdir "$r$1"; }; }
}
# Creates a mount point inside a volume.
inner() { [ -e "$r$1" ] || mkdir "$r$1" || reject "the mount point $1 cannot be made"; }
# An ordinary user must repeat the options of the file system. Tries the usual ones instead of reading all mounts each time.
freeze() {
  quick='mount --no-canonicalize --options-source=disable -o remount,bind,ro,nosuid,nodev'
  $quick "$1" || $quick,noexec "$1" || fail "$2 cannot be made read-only"
}
# Binds $2 beneath the volume root $1, of kind $3, to $4 with its inner mounts; $5 is ro or rw. The source is opened first
# and must then be beneath the root, so a link that is changed in the meantime has no effect.
volume() {
  cd -P "$1" && base=$(pwd -P) || fail "volume root $1 cannot be opened"
  if [ "$3" = dir ]; then
    is=-d
    cd -P "./$2" && real=$(pwd -P) || reject "$2 of the volume is not a directory"
    what=.
  else
    is=-f
    exec 3<"./$2" && real=$(readlink /proc/self/fd/3) || reject "$2 of the volume is not a file"
    what=/proc/self/fd/3
    [ -e "$r$4" ] || : >"$r$4"
  fi
  case "$real/" in "$base"/*) ;; *) reject "$2 leads out of the volume" ;; esac
  how=--bind
  case "$points" in *"
$real/"*) how=--rbind ;; esac
  [ $is "$r$4" ] || reject "$2 of the volume cannot be mounted at $4: it is of another kind"
  mount --no-canonicalize $how "$what" "$r$4" || fail "$2 of the volume cannot be mounted at $4"
  exec 3<&-
  cd /
  [ "$5" = ro ] || return 0
  freeze "$r$4" "$4"
  [ $how = --bind ] || while read -r _ _ _ _ listed _; do
    point=$(printf %b "$listed")
    case "$point" in
    "$r$4"/*) if [ -e "$point" ]; then freeze "$point" "$4"; else cover "$listed"; fi ;;
    esac
  done </proc/self/mountinfo
}
# Calls $2 with mount point and options of each writable mount beneath $1 that is not the container's own.
each_writable() {
  while read -r _ _ _ _ point options _; do
    case "$point" in
    "$1"/dev/pts | "$1"/dev/shm | "$1"/proc* | "$1"/tmp) continue ;;
    "$1"/*) ;;
    *) continue ;;
    esac
    case ,$options, in *,ro,*) ;; *) $2 "$point" "$options" ;; esac
  done </proc/self/mountinfo
}
remount_line() { printf 'none %s none remount,bind,%s,ro 0 0\n' "$1" "$2"; }
# Hides a mount that cannot be made read-only, in the root or in a volume. If the user cannot reach it, the directory above
# it that the user cannot search is covered: the user could write to the mount if the directory were opened later.
cover() {
  covered=$(printf %b "$1")
  while ! mount -t tmpfs -o ro,mode=0,size=4k tmpfs "$covered"; do
    [ ! -e "$covered" ] || fail "$1 cannot be made read-only"
    # Another mount hides it.
    case $(stat "$covered" 2>&1) in *'No such file'* | *'Not a directory'*) return ;; esac
    covered=\${covered%/*}
    case "$covered" in "$r"/*) ;; *) fail "$1 cannot be made read-only" ;; esac
    [ ! -e "$covered/." ] || fail "$1 cannot be made read-only"
  done
}
# Inner mounts of the host are bound with the rest, but writable.
freeze_host() {
  each_writable "$1" remount_line >"$d/.fstab"
  [ ! -s "$d/.fstab" ] || mount --all --fstab "$d/.fstab"
  each_writable "$1" cover
}
# Hides the host's directory $1. Mount points can be made in the empty directory until it is sealed.
mask() {
  # A socket of a daemon that would obey the user: its directory may hold other things.
  if [ -S "$r$1" ]; then mount --bind /dev/null "$r$1" || fail "$1 cannot be hidden"; fi
  masked=$(cd -P "$1" && pwd -P) || return 0
  if [ -d "$r$masked" ]; then mount -t tmpfs -o mode=755,size=4k tmpfs "$r$masked" || fail "$1 cannot be hidden"; fi
}
seal() {
  masked=$(cd -P "$1" && pwd -P) || return 0
  if mountpoint -q "$r$masked"; then mount -o remount,bind,ro "$r$masked" || fail "$1 cannot be made read-only"; fi
}`;

/**
 * Returns the script for PID 1 of a container that uses the node's own file system as its image: a root on tmpfs into which
 * every entry of `/` is bound read-only, the volumes at their mount points, and a private /tmp, /dev, /run and /proc. It
 * must run with all capabilities of a user namespace with its own mount, PID and IPC namespaces, as the user that the
 * command shall have. It needs sh, coreutils and util-linux, and `root` and `tmp` in the container's directory. Before the
 * command starts, the host's root is unmounted, and the permissions to mount and to create user namespaces are dropped:
 * otherwise the command could make a read-only mount writable, or mount a cgroup hierarchy.
 *
 * It is read from file descriptor 9, and has the path of the job's script as argument: the node's directory of the scripts is
 * hidden, because they contain the variables of other containers.
 */
export function slurmHostRoot(launch: Launch, options: SlurmHostRootOptions): string {
  return `exec 9<&-
${setUpLines(launch, options)}${startLines(launch, options)}`;
}

/**
 * The script for a container that is entered by others (`enteredHostRoot`), and runs no command itself. Its record has the PID
 * namespace, too.
 */
export function heldHostRoot(launch: Launch, options: SlurmHostRootOptions): string {
  return `exec 9<&-
${setUpLines(launch, options, '$it $(readlink /proc/self/ns/pid)')}trap '' TERM
while :; do sleep 3600; done
`;
}

/**
 * The script for the command of a container whose namespaces were entered. Its argument is the PID namespace, which a process
 * with the ID of one that has ended does not have.
 */
export function enteredHostRoot(launch: Launch, options: SlurmHostRootOptions): string {
  return `exec 9<&-
[ "$(readlink /proc/self/ns/pid)" = "$1" ] || exit 125
${startLines(launch, options)}`;
}

/** `ready`: what the record of the set-up says. */
function setUpLines(launch: Launch, { maskedPaths, isRoot }: SlurmHostRootOptions, ready = '$it'): string {
  const mounts = [...launch.mounts].sort((a, b) => (a.target < b.target ? -1 : 1));
  const targets = new Set(mounts.map(({ target }) => target));
  const root = fstabName(`${launch.directory}/root`);
  return `d=${q(launch.directory)} spool=
read -r it _ </proc/self/stat
case "$1" in /*/job*/slurm_script) spool=\${1%/*/*} ;; esac
${
  isRoot
    ? `echo "$it" >"$d/${UNMAPPED_FIFO}"
read -r _ <"$d/${MAPPED_FIFO}"
`
    : ''
}r="$d/root"
points=$(while read -r _ _ _ _ point _; do printf '%b\\n' "$point"; done </proc/self/mountinfo)
${FUNCTIONS}
exec 4>&2 2>/dev/null
mount -t tmpfs -o mode=755 tmpfs "$r" || fail 'the node does not allow mounts in user namespaces'
fill '' "$r" ${q(root)} ${q(ownLines({ directory: launch.directory, root, isRoot }))} ${q(`${DEVICES} ${RUN}`)}
[ "$r/tmp" -ef "$d/tmp" ] || fail 'the private /tmp cannot be mounted'
[ -e "$r/proc/self" ] || mount -o rbind${isRoot ? ',ro' : ''} /proc "$r/proc"
command -v setpriv >/dev/null || fail 'the node has no setpriv (util-linux)'
freeze_host ${q(root)}
# A point may recreate a directory with all entries, also those that are hidden next. Points in what is hidden come last.
make_points() {
:
${mounts.flatMap((mount) => pointLines(mount, { root, targets })).join('\n')}
}
make_points
${maskedPaths.map((path) => `mask ${q(path)}\n`).join('')}\
[ -z "$spool" ] || mask "$spool"
make_points
${maskedPaths.map((path) => `seal ${q(path)}\n`).join('')}\
[ -z "$spool" ] || seal "$spool"
${mounts.flatMap((mount) => volumeLines(mount, targets)).join('\n')}
mount -o remount,bind,ro "$r" || fail "the container's root cannot be made read-only"
echo 0 >/proc/sys/user/max_user_namespaces${isRoot ? " || fail 'user namespaces in the container cannot be forbidden'" : ''}
exec 5>"$d/${SETUP_RECORD}"
cd "$r" && pivot_root . . || fail "the container's root cannot be entered"
umount -l . || exit 125
cd /
echo "${ready}" >&5
exec 5>&-
exec 2>&4 4>&-
`;
}

/** Runs the command without the permissions that set up the container, and passes SIGTERM on to it. */
function startLines(launch: Launch, options: SlurmHostRootOptions): string {
  const capabilities = options.isRoot ? `,${ROOT_CAPABILITIES}` : '';
  const hostFile = tasksOf(launch).count > 1 ? hostFileLines('/tmp') : '';
  return firstProcessLines(`(
${exportLines(launch)}${hostFile}exec setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=-all${capabilities} -- env -u PWD -u OLDPWD -u SHLVL -u _ -C /tmp ${words(shownVariables(launch))} ${passedWords(launch, options, assignment)}${words(launch.command)}
)`);
}

/** A variable with the value that it has in the script. */
export function assignment(name: string): string {
  return `${name}=$${name}`;
}

/** The directories on the path to a mount point, outermost first: those outside other mount points, and those inside. */
function pathsOf(mount: Launch['mounts'][number], targets: ReadonlySet<string>): { own: string[]; inVolume: string[] } {
  const parts = mount.target.split('/').filter((part) => part !== '');
  const paths = parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`);
  const outer = paths.findIndex((path) => targets.has(path));
  const directories = mount.kind === 'dir' ? paths : paths.slice(0, -1);
  return { own: directories.slice(0, outer + 1), inVolume: directories.slice(outer + 1) };
}

/** Creates mount points. Must run before any volume is mounted, which a tmpfs over a directory of the host would hide. */
function pointLines(
  mount: Launch['mounts'][number],
  { root, targets }: { readonly root: string; readonly targets: ReadonlySet<string> },
): string[] {
  return pathsOf(mount, targets).own.map((path) => {
    const parent = path.slice(0, path.lastIndexOf('/'));
    return `point ${q(path)} ${q(parent)} ${q(root + fstabName(parent))}`;
  });
}

function volumeLines(mount: Launch['mounts'][number], targets: ReadonlySet<string>): string[] {
  const subPath = mount.subPath === '' ? '.' : mount.subPath;
  return [
    ...pathsOf(mount, targets).inVolume.map((path) => `inner ${q(path)}`),
    `volume ${words([mount.root, subPath, mount.kind, mount.target, mount.readOnly === true ? 'ro' : 'rw'])}`,
  ];
}

/** The container's private mounts, made after those of the host's entries. */
function ownLines({ directory, root, isRoot }: { directory: string; root: string; isRoot: boolean }): string {
  return `${fstabName(directory)}/tmp ${root}/tmp none bind 0 0
tmpfs ${root}/dev/shm tmpfs nosuid,nodev 0 0
devpts ${root}/dev/pts devpts newinstance,ptmxmode=0666,mode=0620 0 0
${root}/dev/pts/ptmx ${root}/dev/ptmx none bind 0 0
proc ${root}/proc proc ${isRoot ? 'ro' : 'defaults'} 0 0
${isRoot ? '' : `${root}/proc/sys ${root}/proc/sys none bind,ro 0 0\n`}`;
}

/** A path in fstab syntax: blanks and backslashes in octal. */
function fstabName(path: string): string {
  return path.replace(/[\s\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

/** Exports values that other users of the node must not see in the arguments of a program. */
function exportLines(launch: Launch): string {
  const hidden = Object.entries(launch.env).filter(([name]) => isHiddenVariable(name));
  return hidden.map(([name, value]) => `export ${name}=${q(value)}\n`).join('');
}

/** The other variables: those with a name that shells do not accept or interpret themselves. */
function shownVariables(launch: Launch): string[] {
  const base = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' };
  const shown = Object.entries(launch.env).filter(([name]) => !isHiddenVariable(name));
  return Object.entries({ ...base, ...Object.fromEntries(shown) }).map(([name, value]) => `${name}=${value}`);
}
