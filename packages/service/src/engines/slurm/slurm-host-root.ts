import type { Launch } from '../engine.ts';
import { shellQuote as q, shellWords as words } from '../shell-quote.ts';
import { isHiddenVariable } from './is-hidden-variable.ts';
import { gpuWords } from './slurm-gpu.ts';

/** Written when the container could not be set up; its text is the reason that the user reads. */
export const REFUSAL_RECORD = 'refused';

/** What root in a container may still do: own files of any user, become any user; nothing to mounts. */
const KEPT_CAPABILITIES =
  '-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+net_bind_service,+sys_chroot';

/** Not the host's /dev: root could write to its disks, also through a read-only mount. Nodes without one lack it. */
const DEVICES =
  '/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx /dev/pts /dev/shm ' +
  '/dev/fd /dev/stdin /dev/stdout /dev/stderr ' +
  '/dev/nvidia* /dev/dri /dev/kfd /dev/accel* /dev/infiniband /dev/hfi1_* /dev/knem /dev/xpmem /dev/gdrdrv';

/** Not the host's /run: Munge, Docker and others listen there, and would take the container for the user who runs it. */
const RUN =
  '/run/systemd /run/systemd/resolve /run/NetworkManager /run/resolvconf /run/connman /run/nscd ' +
  '/run/nvidia-persistenced /run/current-system /run/booted-system /run/wrappers /run/opengl-driver';

export interface SlurmHostRootOptions {
  /** Host paths that are empty inside. */
  readonly maskedPaths: readonly string[];
  /** The job's user is root on the node, to whom the kernel gives its settings in /proc whatever the capabilities. */
  readonly isRoot: boolean;
}

/**
 * PID 1 of a container whose image is the node's own file system: a root on tmpfs into which every entry of `/` is
 * bound read-only, the volumes at their mount points, a private /tmp, own /dev, /run and /proc. Run as root of a user
 * namespace with mount, PID and IPC namespaces of its own; needs sh, coreutils and util-linux, and `root` and `tmp` in
 * the container's directory. The host's root is unmounted, and the rights to mount and to make user namespaces are given
 * up before the command starts: else it could make a read-only mount writable, or mount a hierarchy of cgroups.
 */
export function slurmHostRoot(launch: Launch, { maskedPaths, isRoot }: SlurmHostRootOptions): string {
  const mounts = [...launch.mounts].sort((a, b) => (a.target < b.target ? -1 : 1));
  const targets = new Set(mounts.map(({ target }) => target));
  const root = fstabName(`${launch.directory}/root`);
  return `d=${q(launch.directory)}
r="$d/root"
points=$(while read -r _ _ _ _ point _; do printf '%b\\n' "$point"; done </proc/self/mountinfo)
refuse() { printf '%s' "$1" >"$d/.refused" && mv "$d/.refused" "$d/${REFUSAL_RECORD}"; exit 125; }

# Binds the entries of host directory $1 into $2, and the paths $5, read-only, which fstab knows as $3; $4 are further
# lines for fstab. One program for many entries: a fork is what costs here.
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
# Makes the directory $1 beneath the new root; where its parent $2, to fstab $3, is the host's, a tmpfs with the same
# entries covers it.
point() {
  [ -d "$r$1" ] || mkdir "$r$1" || { mount -t tmpfs tmpfs "$r$2" && { fill "$2" "$r$2" "$3"; freeze_host "$3"; mkdir "$r$1"; }; }
}
# A mount point in a volume.
inner() { [ -e "$r$1" ] || mkdir "$r$1" || refuse "the mount point $1 cannot be made"; }
# An ordinary user must repeat what a file system has itself; quickly, without a look at all mounts for each of them.
freeze() {
  quick='mount --no-canonicalize --options-source=disable -o remount,bind,ro,nosuid,nodev'
  $quick "$1" || $quick,noexec "$1" || refuse "$2 cannot be made read-only"
}
# Binds what is at $2 beneath the volume root $1, a $3, to $4, with what is mounted in it, as $5 (ro or rw) says. It is
# held open first and must then lie beneath the root, so that a link swapped in meanwhile leads nowhere.
volume() {
  cd -P "$1" && base=$(pwd -P) || refuse "volume root $1 cannot be opened"
  if [ "$3" = dir ]; then
    cd -P "./$2" && real=$(pwd -P) || refuse "$2 of the volume is not a directory"
    what=.
  else
    exec 3<"./$2" && real=$(readlink /proc/self/fd/3) || refuse "$2 of the volume is not a file"
    what=/proc/self/fd/3
    [ -e "$r$4" ] || : >"$r$4"
  fi
  case "$real/" in "$base"/*) ;; *) refuse "$2 leads out of the volume" ;; esac
  how=--bind
  case "$points" in *"
$real/"*) how=--rbind ;; esac
  mount --no-canonicalize $how "$what" "$r$4" || refuse "$2 of the volume cannot be mounted at $4"
  exec 3<&-
  cd /
  [ "$5" = ro ] || return 0
  freeze "$r$4" "$4"
  [ $how = --bind ] || while read -r _ _ _ _ point _; do
    point=$(printf %b "$point")
    case "$point" in "$r$4"/*) freeze "$point" "$4" ;; esac
  done </proc/self/mountinfo
}
# Calls $2 for what is mounted writable beneath $1, and is not the container's own, with mount point and options.
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
cover() { mount -t tmpfs -o ro,size=4k tmpfs "$(printf %b "$1")" || refuse "$1 cannot be made read-only"; }
# What is mounted further in on the host came with the rest, and writable.
freeze_host() {
  each_writable "$1" remount_line >"$d/.fstab"
  [ ! -s "$d/.fstab" ] || mount --all --fstab "$d/.fstab"
  each_writable "$1" cover
}
# Hides the host's directory $1, where it can be seen.
mask() {
  if [ "$r$1" -ef "$1" ]; then mount -t tmpfs -o ro,mode=555,size=4k tmpfs "$r$1" || refuse "$1 cannot be hidden"; fi
}

exec 4>&2 2>/dev/null
mount -t tmpfs -o mode=755 tmpfs "$r" || refuse 'the node does not allow mounts in user namespaces'
fill '' "$r" ${q(root)} ${q(ownLines({ directory: launch.directory, root, isRoot }))} ${q(`${DEVICES} ${RUN}`)}
[ "$r/tmp" -ef "$d/tmp" ] || refuse 'the private /tmp cannot be mounted'
[ -e "$r/proc/self" ] || mount -o rbind${isRoot ? ',ro' : ''} /proc "$r/proc"
command -v setpriv >/dev/null || refuse 'the node has no setpriv (util-linux)'
freeze_host ${q(root)}
${maskedPaths.map((path) => `mask ${q(path)}\n`).join('')}\
${mounts.flatMap((mount) => pointLines(mount, { root, targets })).join('\n')}
${mounts.flatMap((mount) => volumeLines(mount, targets)).join('\n')}
mount -o remount,bind,ro "$r" || refuse "the container's root cannot be made read-only"
echo 0 >/proc/sys/user/max_user_namespaces${isRoot ? " || refuse 'user namespaces in the container cannot be forbidden'" : ''}
cd "$r" && pivot_root . . || refuse "the container's root cannot be entered"
umount -l . || exit 125
cd /
exec 2>&4 4>&-
(
${exportLines(launch)}exec setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=${KEPT_CAPABILITIES} -- env -u PWD -u OLDPWD -u SHLVL -u _ -C /tmp ${words(shownVariables(launch))} ${gpuWords(launch, (name) => `${name}=$${name}`)}${words(launch.command)}
) &
c=$!
trap 'kill -TERM $c 2>/dev/null' TERM
wait $c
code=$?
while kill -0 $c 2>/dev/null; do
  wait $c
  code=$?
done
exit $code
`;
}

/** The paths that lead to a mount point and are directories, outermost first: those beneath no other mount point, and the rest. */
function pathsOf(mount: Launch['mounts'][number], targets: ReadonlySet<string>): { own: string[]; inVolume: string[] } {
  const parts = mount.target.split('/').filter((part) => part !== '');
  const paths = parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`);
  const outer = paths.findIndex((path) => targets.has(path));
  const directories = mount.kind === 'dir' ? paths : paths.slice(0, -1);
  return { own: directories.slice(0, outer + 1), inVolume: directories.slice(outer + 1) };
}

/** Makes mount points; before any volume is mounted, which a tmpfs over a directory of the host would hide. */
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

/** What is the container's alone, mounted after the host's entries. */
function ownLines({ directory, root, isRoot }: { directory: string; root: string; isRoot: boolean }): string {
  return `${fstabName(directory)}/tmp ${root}/tmp none bind 0 0
tmpfs ${root}/dev/shm tmpfs nosuid,nodev 0 0
devpts ${root}/dev/pts devpts newinstance,ptmxmode=0666,mode=0620 0 0
${root}/dev/pts/ptmx ${root}/dev/ptmx none bind 0 0
proc ${root}/proc proc ${isRoot ? 'ro' : 'defaults'} 0 0
${isRoot ? '' : `${root}/proc/sys ${root}/proc/sys none bind,ro 0 0\n`}`;
}

/** A path as fstab spells it: blanks and backslashes in octal. */
function fstabName(path: string): string {
  return path.replace(/[\s\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

/** Values that other users of the node shall not see in the arguments of a program. */
function exportLines(launch: Launch): string {
  const hidden = Object.entries(launch.env).filter(([name]) => isHiddenVariable(name));
  return hidden.map(([name, value]) => `export ${name}=${q(value)}\n`).join('');
}

/** The rest: what has a name that no shell takes, or that one takes for its own. */
function shownVariables(launch: Launch): string[] {
  const base = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' };
  const shown = Object.entries(launch.env).filter(([name]) => !isHiddenVariable(name));
  return Object.entries({ ...base, ...Object.fromEntries(shown) }).map(([name, value]) => `${name}=${value}`);
}
