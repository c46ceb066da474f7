import type { Launch } from '../engine.ts';
import { shellQuote as q } from '../shell-quote.ts';
import type { SlurmConfig } from './slurm-config.ts';
import { REFUSAL_RECORD } from './slurm-host-root.ts';
import { mountSource, SLURM_RUNTIMES, type SlurmJobUser } from './slurm-runtimes.ts';

/**
 * The claim in the container's directory, on storage that the nodes share: created exclusively, by the job or in its place.
 */
export const CLAIM = 'claim';
/** JSON that a job writes when it starts: node and job ID. */
export const START_RECORD = 'start.json';
/** JSON that a job writes when its command has ended. */
export const EXIT_RECORD = 'exit.json';
/** The script that is submitted by `sbatch`. */
export const JOB_SCRIPT = 'job.sh';

/**
 * The signal that requests the end of the command. Slurm sends it to every process of the batch step, so it is one that is
 * ignored by default; the script then sends SIGTERM to the command alone.
 */
export const STOP_SIGNAL = 'URG';

/**
 * The job's script. It first creates the claim exclusively, so that of two jobs for one container the second exits. It then
 * records its start, runs the command with its output in the container's log, and records the exit code and whether a signal
 * was received before. Each record is one line in one write; without its newline it is incomplete. The exit record is
 * allocated at the start and later overwritten, so that it can be written even if the command has filled the disk or quota.
 * Where a record cannot be written at the start, the command is not started: a success without a record would be repeated.
 * The script uses shell built-ins, because forks are its main cost.
 */
export function slurmScript(launch: Launch, config: Pick<SlurmConfig, 'runtime'> & SlurmJobUser): string {
  const runtime = SLURM_RUNTIMES[config.runtime];
  return `#!/bin/sh
d=${q(launch.directory)}
set -C
{ true >"$d/${CLAIM}"; } 2>/dev/null || exit 0
set +C
printf '{"node":"%s","jobID":"%s"}\\n' "$SLURMD_NODENAME" "$SLURM_JOB_ID" >"$d/${START_RECORD}" || exit 1
printf '%80s\\n' '' >"$d/${EXIT_RECORD}" || exit 1
exec >>${q(launch.logPath)} 2>&1 </dev/null
${config.runtime === 'none' ? '' : launch.mounts.map(confinement).join('')}${runtime.prepare?.(launch, config) ?? ''}${runtime.start(launch, config)} &
pid=$! asked=false
trap 'asked=true; ${runtime.ask(launch)} 2>/dev/null' TERM ${STOP_SIGNAL}
wait $pid
code=$?
while kill -0 $pid 2>/dev/null; do
  wait $pid
  code=$?
done
${runtime.finish?.(launch, config) ?? ''}printf '{"exitCode":%s,"asked":%s}\\n' "$code" $asked 1<>"$d/${EXIT_RECORD}"
exit $code
`;
}

/** Ends the job if a link leads a part of a volume out of it; the runtime `none` instead keeps its sources open. */
function confinement(mount: Launch['mounts'][number]): string {
  if (mount.subPath === '') return '';
  return `case "$(readlink -f ${q(mountSource(mount))})" in "$(readlink -f ${q(mount.root)})"/*) ;; *)
  printf %s ${q(`${mount.subPath} leads out of the volume`)} >"$d/${REFUSAL_RECORD}"
  exit 125 ;;
esac
`;
}
