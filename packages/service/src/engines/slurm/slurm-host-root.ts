import type { Launch } from '../engine.ts';
import { shellQuote as q, shellWords as words } from '../shell-quote.ts';
import { gpuWords } from './slurm-gpu.ts';

/** Written when the container could not be set up; its text is the reason that the user reads. */
export const REFUSAL_RECORD = 'refused';

/** What root in a container may still do: own files of any user, become any user; nothing to mounts. */
const KEPT_CAPABILITIES =
  '-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+net_bind_service,+sys_chroot';

/**
 * PID 1 of a container whose image is the node's own file system: a root on tmpfs into which every entry of `/` is
 * bound read-only, the volumes at their mount points, a private /tmp, a fresh /proc; `maskedPaths` are empty in it. Run
 * as root of a user namespace with mount and PID namespaces of its own; needs sh, coreutils and util-linux, and `root`
 * and `tmp` in the container's directory. The host's root is unmounted and the right to mount is given up before the
 * command starts: else it could make a read-only mount writable, or find the volumes a second time.
 */
export function slurmHostRoot(launch: Launch, { maskedPaths }: { readonly maskedPaths: readonly string[] }): string {
  const mounts = [...launch.mounts].sort((a, b) => (a.target < b.target ? -1 : 1));
  const targets = new Set(mounts.map(({ target }) => target));
  const root = fstabName(`${launch.directory}/root`);
  return `d=${q(launch.directory)}
r="$d/root"
points=$(while read -r _ _ _ _ point _; do printf '%b\\n' "$point"; done </proc/self/mountinfo)
refuse() { printf '%s' "$1" >"$d/.refused" && mv "$d/.refused" "$d/${REFUSAL_RECORD}"; exit 125; }

# Binds the entries of host directory $1 into $2, read-only, which fstab knows as $3; $4 are further lines for fstab. One
# program for many entries: a fork is what costs here.
fill() {
  from=$1 to=$2 fstab=$3 more=$4 lines= links=
  set --
  for e in "$from"/* "$from"/.[!.]*; do
    n="$to/\${e##*/}"
    case "$e" in
    /proc | /tmp) set -- "$@" "$n" && continue ;;
    *[!A-Za-z0-9/._+@,=-]*) continue ;; # fstab cannot name it plainly
    /dev | /sys) options=rbind ;;
    *) options=rbind,ro ;;
    esac
    if [ -L "$e" ]; then links="$links $e" && continue
    elif [ -d "$e" ]; then set -- "$@" "$n"
    elif [ -e "$e" ]; then : >"$n"
    else continue
    fi
    lines="$lines$e $fstab/\${e##*/} none $options 0 0
"
  done
  [ -z "$links" ] || cp -P $links "$to/"
  [ $# = 0 ] || mkdir "$@"
  printf %s "$lines$more" >"$d/.fstab"
  mount --all --fstab "$d/.fstab"
}
# Makes the directory $1 beneath the new root; where its parent $2, to fstab $3, is the host's, a tmpfs with the same
# entries covers it.
point() {
  [ -d "$r$1" ] || mkdir "$r$1" || { mount -t tmpfs tmpfs "$r$2" && { fill "$2" "$r$2" "$3"; mkdir "$r$1"; }; }
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
# What is mounted further in on the host came with the rest, and writable.
freeze_host() {
  while read -r _ _ _ _ point options _; do
    case "$point" in
    "$1"/dev* | "$1"/proc* | "$1"/sys* | "$1"/tmp) continue ;;
    "$1"/*) ;;
    *) continue ;;
    esac
    case ,$options, in *,ro,*) continue ;; esac
    point=$(printf %b "$point")
    mount -o "remount,bind,$options,ro" "$point" || mount -t tmpfs -o ro,size=4k tmpfs "$point" || refuse "$point cannot be made read-only"
  done </proc/self/mountinfo
}
# Hides the host's directory $1, where it can be seen.
mask() {
  if [ "$r$1" -ef "$1" ]; then mount -t tmpfs -o ro,mode=555,size=4k tmpfs "$r$1" || refuse "$1 cannot be hidden"; fi
}

exec 4>&2 2>/dev/null
mount -t tmpfs -o mode=755 tmpfs "$r" || refuse 'the node does not allow mounts in user namespaces'
fill '' "$r" ${q(root)} ${q(ownLines(launch.directory, root))}
[ "$r/tmp" -ef "$d/tmp" ] || refuse 'the private /tmp cannot be mounted'
[ -e "$r/proc/self" ] || mount --rbind /proc "$r/proc"
command -v setpriv >/dev/null || refuse 'the node has no setpriv (util-linux)'
freeze_host ${q(root)}
${maskedPaths.map((path) => `mask ${q(path)}\n`).join('')}\
${mounts.flatMap((mount) => mountLines(mount, { root, targets })).join('\n')}
mount -o remount,ro "$r"
cd "$r" && pivot_root . . || refuse "the container's root cannot be entered"
umount -l . || exit 125
cd /
exec 2>&4 4>&-
setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=${KEPT_CAPABILITIES} -- env -i -C /tmp ${words(environment(launch))} ${gpuWords(launch, (name) => `${name}=$${name}`)}${words(launch.command)} &
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

function mountLines(
  mount: Launch['mounts'][number],
  { root, targets }: { readonly root: string; readonly targets: ReadonlySet<string> },
): string[] {
  const parts = mount.target.split('/').filter((part) => part !== '');
  const paths = parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`);
  const directories = mount.kind === 'dir' ? paths : paths.slice(0, -1);
  const parent = (path: string) => path.slice(0, path.lastIndexOf('/'));
  const outer = paths.findIndex((path) => targets.has(path));
  const isInVolume = (path: string) => outer !== -1 && paths.indexOf(path) > outer;
  const subPath = mount.subPath === '' ? '.' : mount.subPath;
  return [
    ...directories.map((path) =>
      isInVolume(path)
        ? `inner ${q(path)}`
        : `point ${q(path)} ${q(parent(path))} ${q(root + fstabName(parent(path)))}`,
    ),
    `volume ${words([mount.root, subPath, mount.kind, mount.target, mount.readOnly === true ? 'ro' : 'rw'])}`,
  ];
}

/** What is the container's alone, mounted after the host's entries. */
function ownLines(directory: string, root: string): string {
  return `${fstabName(directory)}/tmp ${root}/tmp none bind 0 0
tmpfs ${root}/dev/shm tmpfs defaults 0 0
proc ${root}/proc proc defaults 0 0
`;
}

/** A path as fstab spells it: blanks and backslashes in octal. */
function fstabName(path: string): string {
  return path.replace(/[\s\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

function environment(launch: Launch): string[] {
  const base = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' };
  return Object.entries({ ...base, ...launch.env }).map(([name, value]) => `${name}=${value}`);
}
