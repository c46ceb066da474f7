import type { Launch } from '../engine.ts';
import type { SlurmConfig } from './slurm-config.ts';
import { shellQuote as q } from './slurm-quote.ts';

/** The files that a job leaves in its container's directory, which is on storage that the nodes share. */
export const CLAIM = 'claim';
export const START_RECORD = 'start.json';
export const EXIT_RECORD = 'exit.json';

/**
 * The job's script. It claims the directory first, so that of two jobs for one container the second ends itself; it
 * records its start, runs the command with its output in the container's log, and records the exit code by a rename.
 */
export function slurmScript(launch: Launch, config: Pick<SlurmConfig, 'runtime'>): string {
  return `#!/bin/sh
d=${q(launch.directory)}
mkdir "$d/${CLAIM}" 2>/dev/null || exit 0
host=$(hostname -f 2>/dev/null || hostname)
printf '{"startedAt":%s,"host":"%s","node":"%s","jobID":"%s"}\\n' "$(date +%s%3N)" "$host" "$SLURMD_NODENAME" "$SLURM_JOB_ID" >"$d/.start"
mv "$d/.start" "$d/${START_RECORD}"
mkdir -p "$d/tmp"
exec >>${q(launch.logPath)} 2>&1 </dev/null
${RUNTIMES[config.runtime](launch)} &
pid=$!
# util-linux's unshare keeps SIGTERM from its child, so the child gets it by its own number.
trap 'for p in $(cat /proc/$pid/task/$pid/children 2>/dev/null) $pid; do kill -TERM "$p" 2>/dev/null; done' TERM
wait $pid
code=$?
while kill -0 $pid 2>/dev/null; do
  wait $pid
  code=$?
done
printf '{"exitCode":%s,"endedAt":%s}\\n' "$code" "$(date +%s%3N)" >"$d/.exit"
mv "$d/.exit" "$d/${EXIT_RECORD}"
exit $code
`;
}

/** How each of a site's runtimes starts the command: one simple shell command, ready for `&`. */
const RUNTIMES: Readonly<Record<SlurmConfig['runtime'], (launch: Launch) => string>> = {
  none: (launch) =>
    `unshare --user --map-root-user --mount --pid --fork --kill-child sh -c ${q(hostRootScript(launch))}`,
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
    words([
      'ch-run',
      '--write-fake',
      ...launch.mounts.map((mount) => `--bind=${source(mount)}:${mount.target}`),
      '--unset-env=*',
      ...environment(launch).map((pair) => `--set-env=${pair}`),
      launch.image ?? '',
      '--',
      ...launch.command,
    ]),
};

/**
 * PID 1 of a container whose image is the node's own file system: a root on tmpfs into which every entry of `/` is
 * bound read-only, the volumes at their mount points, a private /tmp and a fresh /proc. Run as `sh -c` by `unshare`.
 */
function hostRootScript(launch: Launch): string {
  const binds = launch.mounts.map((mount) => {
    const make = mount.kind === 'dir' ? 'mkdir -p "$t"' : 'mkdir -p "$(dirname "$t")" && : >>"$t"';
    return `t="$r"${q(mount.target)}; { ${make}; } 2>/dev/null; mount --bind ${q(source(mount))} "$t" || exit 125`;
  });
  const run = ['chroot', '"$r"', 'env', '-i', ...environment(launch).map(q), ...launch.command.map(q)].join(' ');
  return `
d=${q(launch.directory)}
r="$d/root"
mkdir -p "$r" && mount -t tmpfs -o mode=755 tmpfs "$r" || exit 125
for e in /* /.[!.]*; do
  n="$r$e"
  case "$e" in /proc | /tmp) mkdir -p "$n"; continue ;; esac
  if [ -L "$e" ]; then ln -s "$(readlink "$e")" "$n"
  elif [ -d "$e" ]; then mkdir "$n" && mount --rbind "$e" "$n"
    case "$e" in /dev | /sys) ;; *) mount -o remount,bind,ro "$n" 2>/dev/null ;; esac
  elif [ -e "$e" ]; then : >"$n" && mount --bind "$e" "$n" && mount -o remount,bind,ro "$n" 2>/dev/null
  fi
done
mount --bind "$d/tmp" "$r/tmp" || exit 125
mount -t proc proc "$r/proc" 2>/dev/null || mount --rbind /proc "$r/proc"
${binds.join('\n')}
cd /
${run} &
c=$!
trap 'kill -TERM $c 2>/dev/null' TERM
wait $c
code=$?
while kill -0 $c 2>/dev/null; do wait $c; code=$?; done
exit $code
`;
}

function environment(launch: Launch): string[] {
  const base: Record<string, string> =
    launch.image === undefined
      ? { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' }
      : {};
  return Object.entries({ ...base, ...launch.env }).map(([name, value]) => `${name}=${value}`);
}

function source(mount: Launch['mounts'][number]): string {
  return mount.subPath === '' ? mount.root : `${mount.root}/${mount.subPath}`;
}

function words(argv: readonly string[]): string {
  return argv.map(q).join(' ');
}
