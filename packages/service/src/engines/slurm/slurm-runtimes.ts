import type { Launch } from '../engine.ts';
import { shellQuote as q, shellWords as words } from '../shell-quote.ts';
import { UNREACHABLE_REGISTRY } from '../unreachable-registry.ts';
import { isHiddenVariable } from './is-hidden-variable.ts';
import { firstProcessLines } from './script-lines.ts';
import type { SlurmConfig } from './slurm-config.ts';
import { gpuWords } from './slurm-gpu.ts';
import {
  assignment,
  FAULT_RECORD,
  MAPPED_FIFO,
  REJECTION_RECORD,
  SETUP_RECORD,
  type SlurmHostRootOptions,
  slurmHostRoot,
  UNMAPPED_FIFO,
} from './slurm-host-root.ts';
import { passedWords } from './slurm-mpi.ts';

/** The shell code by which a job's script uses one of a site's container runtimes; `$d` is the container's directory. */
export interface SlurmRuntime {
  /** Lines before the start of the command. */
  prepare?(launch: Launch, job: SlurmHostRootOptions): string;
  /** Starts the command: a single shell command to which `&` is appended. */
  start(launch: Launch, job: SlurmHostRootOptions): string;
  /** Sends SIGTERM to the command; `$pid` is the process that `start` created. */
  ask(launch: Launch): string;
  /** What `start` may read from file descriptor 9. Default: the descriptor is closed. */
  input?(launch: Launch, job: SlurmHostRootOptions): string;
  /**
   * Lines after the end: they may correct `$code`, depending on whether a stop was requested (`$asked`), or write a rejection
   * or a fault.
   */
  finish?(launch: Launch, job: SlurmHostRootOptions): string;
}

/**
 * The command runs as the job's user, as on every other engine. An ordinary user has only itself in the user namespace; for
 * root, a process outside the namespace maps all users.
 */
const none: SlurmRuntime = {
  prepare: (_launch, options) => mapperLines(options),
  start: (launch, options) =>
    `${newNamespaces(options)} env -i PATH="$PATH" ${passedWords(launch, options, assignment)}sh /dev/fd/9 "$0"`,
  // Not an argument: those are shorter than an environment may be, and other users of the node can read them.
  input: slurmHostRoot,
  ask: () => ASK_CHILD,
  finish: (launch, options) => `${endMapper(options)}\
if ! $asked && [ ! -s "$d/${SETUP_RECORD}" ] && [ ! -e "$d/${REJECTION_RECORD}" ] && [ ! -e "$d/${FAULT_RECORD}" ]; then
  said=$(tail -n 1 ${q(launch.logPath)})
  printf 'could not set up the container on node %s: %s' "$SLURMD_NODENAME" "\${said:-code $code}" >"$d/${FAULT_RECORD}"
fi
`,
};

/** Enters new namespaces, in which the user may mount. */
export function newNamespaces({ isRoot }: Pick<SlurmHostRootOptions, 'isRoot'>): string {
  return `unshare --user ${isRoot ? '' : '--map-current-user '}--keep-caps --mount --pid --ipc --fork --kill-child`;
}

/** Starts the process that maps all users for root. */
export function mapperLines({ isRoot }: Pick<SlurmHostRootOptions, 'isRoot'>): string {
  if (!isRoot) return '';
  return `mkfifo "$d/${UNMAPPED_FIFO}" "$d/${MAPPED_FIFO}"
map() { printf '%s\\n' "$(while read -r from _ count; do echo "$from $from $count"; done </proc/self/$2)" >/proc/$1/$2; }
{ read -r it <"$d/${UNMAPPED_FIFO}" && map $it uid_map && map $it gid_map; echo >"$d/${MAPPED_FIFO}"; } &
mapper=$!
`;
}

/** Ends that process: it waits forever for a script that has ended before. */
export function endMapper({ isRoot }: Pick<SlurmHostRootOptions, 'isRoot'>): string {
  return isRoot ? 'kill $mapper 2>/dev/null\n' : '';
}

/**
 * Neither unshare nor nsenter of util-linux forwards signals, so the signal is sent to the child, the first process of the
 * container (`firstProcessLines`). The kernel drops a signal that this process does not handle yet, and setting up a container
 * takes a while: so the script waits until SIGTERM, bit 14, is in its mask of handled signals (proc(5), `SigCgt`).
 */
export const ASK_CHILD = `while kill -0 $pid; do
  child=none
  read -r child _ </proc/$pid/task/$pid/children
  case "$(grep SigCgt: /proc/$child/status)" in
  *[4-7c-f]???) kill -TERM $child; break ;;
  esac
  sleep 0.05
done`;

/** The pattern of a shell for messages which say that a registry could not be asked. */
const UNREACHABLE = UNREACHABLE_REGISTRY.map((part) => `*${q(part)}*`).join(' | ');

/** Ends the job with a fault if the node lacks a program. The shell's own code, 127, could be that of a command. */
function requireProgram(name: string): string {
  return `command -v ${name} >/dev/null || {
  printf 'node %s has no ${name}' "$SLURMD_NODENAME" >"$d/${FAULT_RECORD}"
  exit 127
}
`;
}

/**
 * Slurm enforces the limits: rootless Podman cannot. The log driver passes the job's own streams to the command, byte for
 * byte, and writes no second log on the node. Podman's monitor leaves the job's process tree, so only a cluster that tracks
 * jobs by cgroups would end it; elsewhere, a guard that outlives the script ends it.
 */
const podman: SlurmRuntime = {
  // The guard detects every kind of end of the script by the end of a pipe that only the script writes to. The monitor
  // removes a killed container, and two concurrent removals would conflict; the guard's later removal is for a container
  // that a Podman process outliving the script was still creating. It is repeated while Podman fails: once, on a
  // busy node where several tasks ended together, a container was left.
  prepare: (launch) => `${requireProgram('podman')}mkfifo "$d/life"
exec 9<>"$d/life" 8<"$d/life"
end="podman kill ${podmanName(launch)}; sleep 5; for i in 1 2 3 4 5 6 7 8 9; do podman rm --force --time=0 --ignore ${podmanName(launch)} && break; sleep 5; done"
(setsid sh -c "trap '' TERM; read -r over <&8 || { $end; }" 9>&- >/dev/null 2>&1 &)
exec 8<&-
`,
  start: (launch) => `(
exec 9>&-
${Object.entries(launch.env)
  .filter(([name]) => isHiddenVariable(name))
  .map(([name, value]) => `export ${name}=${q(value)}\n`)
  .join('')}exec podman run ${words([
    '--rm',
    '--network=host',
    '--log-driver=passthrough',
    `--name=${podmanName(launch)}`,
    ...(launch.limits.gpus > 0 ? ['--device=nvidia.com/gpu=all'] : []),
    ...launch.mounts.map((mount) => `--volume=${mountSource(mount)}:${mount.target}${podmanOptions(mount)}`),
    ...Object.entries(launch.env).map(([name, value]) => `--env=${isHiddenVariable(name) ? name : `${name}=${value}`}`),
  ])} ${gpuWords(launch, (name) => `--env=${name}`)}${words([launch.image ?? '', ...launch.command])}
)`,
  // Not a signal to Podman itself: without root, it exits immediately with 0, and the container continues (seen with 4.3).
  // The container may not exist yet.
  ask: (launch) =>
    `until podman kill --signal=TERM ${podmanName(launch)} >/dev/null || ! kill -0 $pid; do sleep 0.5; done`,
  // A signal to the whole job also ends `podman wait`, although the container continues. So it is repeated until it succeeds or
  // Podman knows no such container. The line that the script writes at the end makes the guard exit without killing anything.
  finish: (launch) => `if $asked; then
  until ended=$(podman wait ${podmanName(launch)} 2>/dev/null); do
    ended=143 found=0
    podman container exists ${podmanName(launch)} 2>/dev/null || found=$?
    [ $found != 1 ] || break
    sleep 0.5
  done
  [ $code != 0 ] || code=$ended
elif [ $code -ge 125 ] && [ $code -le 127 ]; then
  # With this log driver the reason of the program beneath Podman is in the line before.
  said=$(tail -n 2 ${q(launch.logPath)} | tr '\\n' ' ' | cut -c 1-1000)
  case $said in
  *'Error: '*)
    record=${REJECTION_RECORD}
    case $said in ${UNREACHABLE}) record=${FAULT_RECORD} ;; esac
    printf %s "$said" >"$d/$record"
    ;;
  esac
fi
echo over >&9
`,
};

const apptainer: SlurmRuntime = {
  prepare: () => requireProgram('apptainer'),
  start: (launch, options) =>
    `apptainer ${words([
      launch.command.length > 0 ? 'exec' : 'run',
      '--cleanenv',
      '--containall',
      '--writable-tmpfs',
      ...(launch.limits.gpus > 0 ? ['--nv'] : []),
      ...launch.mounts.flatMap((mount) => [
        '--bind',
        `${mountSource(mount)}:${mount.target}${mount.readOnly === true ? ':ro' : ''}`,
      ]),
      ...pairs(launch).flatMap((pair) => ['--env', pair]),
    ])} ${passedWords(launch, options, (name) => `--env=${assignment(name)}`)}${words([
      /^[a-z]+:\/\/|^\//.test(launch.image ?? '') ? (launch.image ?? '') : `docker://${launch.image}`,
      ...launch.command,
    ])}`,
  ask: () => 'kill -TERM $pid',
  finish: (launch) => `if ! $asked && [ $code = 255 ]; then
  said=$(tail -n 2 ${q(launch.logPath)} | tr '\\n' ' ' | cut -c 1-1000)
  case $said in
  *'FATAL: '*' to handle '*)
    case $said in ${UNREACHABLE}) printf %s "$said" >"$d/${FAULT_RECORD}" ;; esac
    ;;
  esac
fi
`,
};

/**
 * Enters a PID namespace, with whose first process all others end: Charliecloud has none, and an allocation continues after a
 * container. An ordinary user needs a user namespace for it, as Charliecloud does.
 */
export function newProcessNamespace(isRoot: boolean): string {
  return `unshare ${isRoot ? '' : '--user --map-current-user '}--pid --mount-proc --fork --kill-child`;
}

const charliecloud: SlurmRuntime = {
  // Creating missing mount points requires version 0.33; the image's own environment is a file in it.
  prepare: ({ image }, { isRoot }) => `${requireProgram('ch-run')}${newProcessNamespace(isRoot)} true || {
  printf 'node %s allows no namespace for processes' "$SLURMD_NODENAME" >"$d/${FAULT_RECORD}"
  exit 127
}
export USER="\${USER:-$(id -un)}" HOME="\${HOME:-/tmp}"
set -- '--unset-env=*' --set-env=HOME=/tmp --set-env=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
[ ! -f ${q(`${image}/ch/environment`)} ] || set -- "$@" ${q(`--set-env=${image}/ch/environment`)}
case "$(ch-run --help 2>&1)" in *--write-fake*) set -- "$@" --write-fake ;; esac
`,
  start: (launch, options) =>
    `${newProcessNamespace(options.isRoot)} sh -c ${q(firstProcessLines('"$@"'))} sh ch-run "$@" ${words([
      '--private-tmp',
      '--env-no-expand',
      ...launch.mounts.map((mount) => `--bind=${mountSource(mount)}:${mount.target}`),
      ...pairs(launch).map((pair) => `--set-env=${pair}`),
    ])} ${passedWords(launch, options, (name) => `--set-env=${assignment(name)}`)}${words([launch.image ?? '', '--', ...launch.command])}`,
  ask: () => ASK_CHILD,
};

/** The runtimes by their name in a cluster's configuration. */
export const SLURM_RUNTIMES: Readonly<Record<SlurmConfig['runtime'], SlurmRuntime>> = {
  none,
  podman,
  apptainer,
  charliecloud,
};

/** The path on the node of a volume or a part of it. */
export function mountSource(mount: Launch['mounts'][number]): string {
  return mount.subPath === '' ? mount.root : `${mount.root}/${mount.subPath}`;
}

/**
 * Podman makes only the mount itself read-only. Without the `r` of `rbind`, inner mounts are excluded; the kernel rejects
 * the mount if there are any.
 */
function podmanOptions({ readOnly }: Launch['mounts'][number]): string {
  return readOnly === true ? ':ro,bind' : '';
}

function podmanName({ key }: Launch): string {
  return `sluice-${key}`;
}

function pairs(launch: Launch): string[] {
  return Object.entries(launch.env).map(([name, value]) => `${name}=${value}`);
}
