import type { Launch } from '../engine.ts';
import { shellQuote as q, shellWords as words } from '../shell-quote.ts';
import { isHiddenVariable } from './is-hidden-variable.ts';
import type { SlurmConfig } from './slurm-config.ts';
import { gpuWords } from './slurm-gpu.ts';
import { REFUSAL_RECORD } from './slurm-host-root.ts';

/** What `runtime: none` runs as PID 1 (`slurmHostRoot`): a file, since a whole environment does not fit one argument. */
export const INSIDE_SCRIPT = 'inside.sh';

/** How a job's script, in which `$d` is the container's directory, uses one of a site's container runtimes. */
export interface SlurmRuntime {
  /** Lines before the start. */
  prepare?(launch: Launch): string;
  /** Starts the command: one shell command, ready for `&`. */
  start(launch: Launch): string;
  /** Hands SIGTERM to the command, `$pid` being what was started. */
  ask(launch: Launch): string;
  /** Lines after the end: they may correct `$code`, knowing whether a signal had `$asked` for it, or leave a refusal. */
  finish?(launch: Launch): string;
}

const none: SlurmRuntime = {
  start: (launch) =>
    `unshare --user --map-root-user --mount --pid --ipc --fork --kill-child env -i PATH="$PATH" ${gpuWords(launch, (name) => `${name}=$${name}`)}sh "$d/${INSIDE_SCRIPT}"`,
  // util-linux's unshare keeps the signal from its child, so the child gets it by its own number.
  ask: () => 'kill -TERM $(cat /proc/$pid/task/$pid/children)',
};

/**
 * Limits are Slurm's own: a user's Podman has none to give. The log driver hands the job's own streams to the command,
 * byte for byte, and writes no second log on the node. Podman's monitor leaves the job's process tree, so that only
 * a cluster which tracks jobs by cgroups would end it by itself; a guard that does the same outlives the script.
 */
const podman: SlurmRuntime = {
  // The guard hears of the script's end, whatever made it, by the end of a pipe that the script alone writes to. What
  // is killed is removed by its monitor, and two that remove it would be in each other's way; the guard comes later for
  // what a Podman that has outlived the script was just creating.
  prepare: (launch) => `mkfifo "$d/life"
exec 9<>"$d/life" 8<"$d/life"
end="podman kill ${podmanName(launch)}; sleep 5; podman rm --force --time=0 --ignore ${podmanName(launch)}"
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
  // Not a signal to Podman itself: without root, it ends at once and with 0, and the container runs on (seen with 4.3).
  ask: (launch) => `podman kill --signal=TERM ${podmanName(launch)} >/dev/null`,
  finish: (launch) => `if $asked; then
  ended=$(podman wait ${podmanName(launch)} 2>/dev/null) || ended=143
  [ $code != 0 ] || code=$ended
elif [ $code -ge 125 ] && [ $code -le 127 ]; then
  # With this log driver the reason of the program beneath Podman is in the line before.
  said=$(tail -n 2 ${q(launch.logPath)} | tr '\\n' ' ' | cut -c 1-1000)
  case $said in *'Error: '*) printf %s "$said" >"$d/${REFUSAL_RECORD}" ;; esac
fi
echo over >&9
`,
};

const apptainer: SlurmRuntime = {
  start: (launch) =>
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
    ])} ${gpuWords(launch, (name) => `--env=${name}=$${name}`)}${words([
      /^[a-z]+:\/\/|^\//.test(launch.image ?? '') ? (launch.image ?? '') : `docker://${launch.image}`,
      ...launch.command,
    ])}`,
  ask: () => 'kill -TERM $pid',
};

const charliecloud: SlurmRuntime = {
  // Mount points that the image lacks need 0.33; the image's own environment is a file in it.
  prepare: ({ image }) => `export USER="\${USER:-$(id -un)}" HOME="\${HOME:-/tmp}"
set -- '--unset-env=*' --set-env=HOME=/tmp --set-env=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
[ ! -f ${q(`${image}/ch/environment`)} ] || set -- "$@" ${q(`--set-env=${image}/ch/environment`)}
case "$(ch-run --help 2>&1)" in *--write-fake*) set -- "$@" --write-fake ;; esac
`,
  start: (launch) =>
    `ch-run "$@" ${words([
      '--private-tmp',
      '--env-no-expand',
      ...launch.mounts.map((mount) => `--bind=${mountSource(mount)}:${mount.target}`),
      ...pairs(launch).map((pair) => `--set-env=${pair}`),
    ])} ${gpuWords(launch, (name) => `--set-env=${name}=$${name}`)}${words([launch.image ?? '', '--', ...launch.command])}`,
  ask: () => 'kill -TERM $pid',
};

/** By the name that a cluster's configuration gives. */
export const SLURM_RUNTIMES: Readonly<Record<SlurmConfig['runtime'], SlurmRuntime>> = {
  none,
  podman,
  apptainer,
  charliecloud,
};

/** The path of a volume, or of a part of it, on the node. */
export function mountSource(mount: Launch['mounts'][number]): string {
  return mount.subPath === '' ? mount.root : `${mount.root}/${mount.subPath}`;
}

/**
 * Podman makes only the mount itself read-only. Without `r` nothing comes along that is mounted further in, which the
 * kernel refuses where there is such a thing.
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
