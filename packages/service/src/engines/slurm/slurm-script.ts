import type { Launch } from '../engine.ts';
import { shellQuote as q } from '../shell-quote.ts';
import type { SlurmConfig } from './slurm-config.ts';
import { REFUSAL_RECORD } from './slurm-host-root.ts';
import { mountSource, SLURM_RUNTIMES } from './slurm-runtimes.ts';

/** The files that a job leaves in its container's directory, which is on storage that the nodes share. */
export const CLAIM = 'claim';
export const START_RECORD = 'start.json';
export const EXIT_RECORD = 'exit.json';
/** What `sbatch` is given. */
export const JOB_SCRIPT = 'job.sh';

/**
 * Asks the script to end the command. Slurm gives a signal to every process of the batch step, so it is one that does
 * nothing to those who do not wait for it; the script hands SIGTERM to the command alone.
 */
export const STOP_SIGNAL = 'URG';

/**
 * The job's script. It makes the claim first, by an exclusive create, so that of two jobs for one container the second
 * ends itself; it records its start, runs the command with its output in the container's log, and records the exit
 * code, together with whether a signal had asked for the end. Each record is one line in one write: without its
 * newline it is not there yet. The exit record has its place from the start, and is written over blanks: a disk or quota
 * that the command has filled takes nothing new. Built-ins throughout, since what a job costs above Slurm's own share is its forks.
 */
export function slurmScript(launch: Launch, config: Pick<SlurmConfig, 'runtime'>): string {
  const runtime = SLURM_RUNTIMES[config.runtime];
  return `#!/bin/sh
d=${q(launch.directory)}
set -C
{ true >"$d/${CLAIM}"; } 2>/dev/null || exit 0
set +C
printf '{"node":"%s","jobID":"%s"}\\n' "$SLURMD_NODENAME" "$SLURM_JOB_ID" >"$d/${START_RECORD}"
printf '%80s\\n' '' >"$d/${EXIT_RECORD}"
exec >>${q(launch.logPath)} 2>&1 </dev/null
${config.runtime === 'none' ? '' : launch.mounts.map(confinement).join('')}${runtime.prepare?.(launch) ?? ''}${runtime.start(launch)} &
pid=$! asked=false
trap 'asked=true; ${runtime.ask(launch)} 2>/dev/null' TERM ${STOP_SIGNAL}
wait $pid
code=$?
while kill -0 $pid 2>/dev/null; do
  wait $pid
  code=$?
done
${runtime.finish?.(launch) ?? ''}printf '{"exitCode":%s,"asked":%s}\\n' "$code" $asked 1<>"$d/${EXIT_RECORD}"
exit $code
`;
}

/** Ends the job where a link has led a part of a volume out of it; `none` holds what it mounts open instead. */
function confinement(mount: Launch['mounts'][number]): string {
  if (mount.subPath === '') return '';
  return `case "$(readlink -f ${q(mountSource(mount))})" in "$(readlink -f ${q(mount.root)})"/*) ;; *)
  printf %s ${q(`${mount.subPath} leads out of the volume`)} >"$d/${REFUSAL_RECORD}"
  exit 125 ;;
esac
`;
}
