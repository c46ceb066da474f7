import type { Launch } from '../engine.ts';
import { shellQuote as q } from '../shell-quote.ts';
import { tasksOf } from '../tasks-of.ts';
import { runtimeOf } from './check-runtime.ts';
import { hideLineBreaks, NOTE_STOP, waitLines, withInput } from './script-lines.ts';
import { agentRuntime } from './slurm-agent.ts';
import type { SlurmConfig } from './slurm-config.ts';
import { REJECTION_RECORD, type SlurmHostRootOptions } from './slurm-host-root.ts';
import { mountSource, SLURM_RUNTIMES, type SlurmRuntime } from './slurm-runtimes.ts';
import { sharedRoot } from './slurm-shared-root.ts';
import { tasksLines } from './slurm-tasks.ts';

/**
 * The claim in the container's directory, on storage that the nodes share: created exclusively, by the job or in its place.
 */
export const CLAIM = 'claim';
/** JSON that a job writes when it starts: node and job ID. */
export const START_RECORD = 'start.json';
/** JSON that a job writes when its command has ended. */
export const EXIT_RECORD = 'exit.json';
/** The output of the job itself, where Slurm says why it has ended the job; that of the command is its container's log. */
export const JOB_OUTPUT = 'slurm.out';

/** `isAgent`: the job is an allocation. Default: that of a container. `nodes`: as in `tasksLines`. */
export type SlurmScriptOptions = Pick<SlurmConfig, 'runtime'> &
  SlurmHostRootOptions & { readonly isAgent?: boolean; readonly nodes?: readonly string[] };

/**
 * The job's script. It first creates the claim exclusively, so that of two jobs for one container the second exits. It then
 * records its start, runs the command with its output in the container's log, and records the exit code and whether a signal
 * was received before. Each record is one line in one write; without its newline it is incomplete. The exit record is
 * allocated at the start and later overwritten, so that it can be written even if the command has filled the disk or quota.
 * Where a record cannot be written at the start, the command is not started: a success without a record would be repeated.
 * The script uses shell built-ins, because forks are its main cost.
 *
 * It contains the container's variables, and is therefore passed to `sbatch` without a file. A part of it, which `sbatch`
 * submits if the service is killed meanwhile, is no valid script and does nothing.
 */
export function slurmScript(launch: Launch, config: SlurmScriptOptions): string {
  const run =
    tasksOf(launch).count > 1 && config.isAgent !== true
      ? tasksLines(launch, {
          ...{ mpi: config.mpi, nodes: config.nodes },
          commandLines: (...of) => commandLines(config, ...of),
        })
      : commandLines(config, launch);
  const lines = `d=${q(launch.directory)}
set -C
{ true >"$d/${CLAIM}"; } 2>/dev/null || exit 0
set +C
${NOTE_STOP}printf '{"node":"%s","jobId":"%s"}\\n' "$SLURMD_NODENAME" "$SLURM_JOB_ID" >"$d/${START_RECORD}" || exit 1
printf '%80s\\n' '' >"$d/${EXIT_RECORD}" || exit 1
exec >>${q(launch.logPath)} 2>&1 </dev/null
${run}printf '{"exitCode":%s,"asked":%s}\\n' "$code" $asked 1<>"$d/${EXIT_RECORD}"
exit $code
`;
  return `#!/bin/sh
main() {
${hideLineBreaks(lines)}}
main
`;
}

/**
 * The script that runs one container with an image on a node, without a job of its own. It removes itself before the command
 * starts, because it contains the container's variables, and may leave a rejection or a fault.
 */
export function runtimeScript(launch: Launch, config: Pick<SlurmConfig, 'runtime'> & SlurmHostRootOptions): string {
  return `main() {
rm -f "$0"
d=${q(launch.directory)}
exec </dev/null
${NOTE_STOP}${commandLines(config, launch)}exit $code
}
main
`;
}

/**
 * Runs the command in the container's directory `$d` and leaves its exit code in `$code`. `nodeDirectory` is that of the tasks of
 * a node, if there are several.
 */
function commandLines(config: SlurmScriptOptions, launch: Launch, nodeDirectory?: string): string {
  const name = runtimeOf(launch, config);
  const runtime = codeOf(name, { ...config, nodeDirectory });
  const input = runtime.input?.(launch, config);
  const start = `${runtime.start(launch, config)} &
pid=$!
`;
  return `${name === 'none' ? '' : launch.mounts.map(confinement).join('')}${runtime.prepare?.(launch, config) ?? ''}${input === undefined ? start : withInput(start, input)}${waitLines(runtime.ask(launch))}${runtime.finish?.(launch, config) ?? ''}`;
}

function codeOf(
  runtime: SlurmConfig['runtime'],
  { isAgent, nodeDirectory }: Pick<SlurmScriptOptions, 'isAgent'> & { readonly nodeDirectory: string | undefined },
): SlurmRuntime {
  if (isAgent) return agentRuntime;
  return runtime === 'none' && nodeDirectory !== undefined ? sharedRoot(nodeDirectory) : SLURM_RUNTIMES[runtime];
}

/** Ends the job if a link leads a part of a volume out of it; the runtime `none` instead keeps its sources open. */
function confinement(mount: Launch['mounts'][number]): string {
  if (mount.subPath === '') return '';
  return `case "$(readlink -f ${q(mountSource(mount))})" in "$(readlink -f ${q(mount.root)})"/*) ;; *)
  printf %s ${q(`${mount.subPath} leads out of the volume`)} >"$d/${REJECTION_RECORD}"
  exit 125 ;;
esac
`;
}
