import type { Launch } from '../engine.ts';
import type { SlurmConfig } from './slurm-config.ts';
import { REFUSAL_RECORD } from './slurm-host-root.ts';
import { shellQuote as q } from './slurm-quote.ts';

/** The files that a job leaves in its container's directory, which is on storage that the nodes share. */
export const CLAIM = 'claim';
export const START_RECORD = 'start.json';
export const EXIT_RECORD = 'exit.json';
/** What `sbatch` is given. */
export const JOB_SCRIPT = 'job.sh';
/** What \`runtime: none\` runs as PID 1 (\`slurmHostRoot\`): a file, since a whole environment does not fit one argument. */
export const INSIDE_SCRIPT = 'inside.sh';

/**
 * Asks the script to end the command. Slurm gives a signal to every process of the batch step, so it is one that does
 * nothing to those who do not wait for it; the script hands SIGTERM to the command alone.
 */
export const STOP_SIGNAL = 'URG';

/**
 * The job's script. It makes the claim first, by an exclusive create, so that of two jobs for one container the second
 * ends itself; it records its start, runs the command with its output in the container's log, and records the exit
 * code, together with whether a signal had asked for the end. Each record is one line in one write: without its
 * newline it is not there yet. Built-ins throughout, since what a job costs above Slurm's own share is its forks.
 */
export function slurmScript(launch: Launch, config: Pick<SlurmConfig, 'runtime'>): string {
  return `#!/bin/sh
d=${q(launch.directory)}
set -C
{ true >"$d/${CLAIM}"; } 2>/dev/null || exit 0
set +C
read -r host </proc/sys/kernel/hostname
printf '{"host":"%s","node":"%s","jobID":"%s"}\\n' "$host" "$SLURMD_NODENAME" "$SLURM_JOB_ID" >"$d/${START_RECORD}"
exec >>${q(launch.logPath)} 2>&1 </dev/null
${config.runtime === 'none' ? '' : launch.mounts.map(confinement).join('')}${PREPARATIONS[config.runtime](launch)}${RUNTIMES[config.runtime](launch)} &
pid=$! asked=false
trap 'asked=true; kill -TERM ${TERM_TARGETS[config.runtime]} 2>/dev/null' TERM ${STOP_SIGNAL}
wait $pid
code=$?
while kill -0 $pid 2>/dev/null; do
  wait $pid
  code=$?
done
printf '{"exitCode":%s,"asked":%s}\\n' "$code" $asked >"$d/${EXIT_RECORD}"
exit $code
`;
}

/** What has to be found out on the node before: `$@` is then the runtime's first words. */
const PREPARATIONS: Readonly<Record<SlurmConfig['runtime'], (launch: Launch) => string>> = {
  none: () => '',
  podman: () => '',
  apptainer: () => '',
  // Mount points that the image lacks need 0.33; the image's own environment is a file in it.
  charliecloud: ({ image = '' }) => `export USER="\${USER:-$(id -un)}" HOME="\${HOME:-/tmp}"
set -- '--unset-env=*' --set-env=HOME=/tmp --set-env=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
[ ! -f ${q(`${image}/ch/environment`)} ] || set -- "$@" ${q(`--set-env=${image}/ch/environment`)}
case "$(ch-run --help 2>&1)" in *--write-fake*) set -- "$@" --write-fake ;; esac
`,
};

/** How each of a site's runtimes starts the command: one simple shell command, ready for `&`. */
const RUNTIMES: Readonly<Record<SlurmConfig['runtime'], (launch: Launch) => string>> = {
  none: () => `unshare --user --map-root-user --mount --pid --fork --kill-child sh "$d/${INSIDE_SCRIPT}"`,
  podman: (launch) =>
    words([
      'podman',
      'run',
      '--rm',
      '--network=host',
      `--cpus=${launch.limits.cores}`,
      `--memory=${launch.limits.memoryBytes}`,
      `--name=sluice-${launch.key}`,
      ...launch.mounts.map((mount) => `--mount=type=bind,source=${source(mount)},target=${mount.target}`),
      ...environment(launch).map((pair) => `--env=${pair}`),
      launch.image ?? '',
      ...launch.command,
    ]),
  apptainer: (launch) =>
    words([
      'apptainer',
      launch.command.length > 0 ? 'exec' : 'run',
      '--cleanenv',
      '--containall',
      '--writable-tmpfs',
      ...launch.mounts.flatMap((mount) => ['--bind', `${source(mount)}:${mount.target}`]),
      ...environment(launch).flatMap((pair) => ['--env', pair]),
      /^[a-z]+:\/\/|^\//.test(launch.image ?? '') ? (launch.image ?? '') : `docker://${launch.image}`,
      ...launch.command,
    ]),
  charliecloud: (launch) =>
    `ch-run "$@" ${words([
      '--private-tmp',
      '--env-no-expand',
      ...launch.mounts.map((mount) => `--bind=${source(mount)}:${mount.target}`),
      ...environment(launch).map((pair) => `--set-env=${pair}`),
      launch.image ?? '',
      '--',
      ...launch.command,
    ])}`,
};

/** Who gets SIGTERM: util-linux's unshare keeps it from its child, so there the child gets it by its own number. */
const TERM_TARGETS: Readonly<Record<SlurmConfig['runtime'], string>> = {
  none: '$(cat /proc/$pid/task/$pid/children)',
  podman: '$pid',
  apptainer: '$pid',
  charliecloud: '$pid',
};

function environment(launch: Launch): string[] {
  return Object.entries(launch.env).map(([name, value]) => `${name}=${value}`);
}

function source(mount: Launch['mounts'][number]): string {
  return mount.subPath === '' ? mount.root : `${mount.root}/${mount.subPath}`;
}

/** Ends the job where a link has led a part of a volume out of it; `none` holds what it mounts open instead. */
function confinement(mount: Launch['mounts'][number]): string {
  if (mount.subPath === '') return '';
  return `case "$(readlink -f ${q(source(mount))})" in "$(readlink -f ${q(mount.root)})"/*) ;; *)
  printf %s ${q(`${mount.subPath} leads out of the volume`)} >"$d/${REFUSAL_RECORD}"
  exit 125 ;;
esac
`;
}

function words(argv: readonly string[]): string {
  return argv.map(q).join(' ');
}
