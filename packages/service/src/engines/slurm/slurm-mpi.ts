import { EngineError, type Launch } from '../engine.ts';
import { tasksOf } from '../tasks-of.ts';
import type { SlurmConfig } from './slurm-config.ts';
import { gpuWords } from './slurm-gpu.ts';

/** `mpi` as in the configuration: the plugin of `srun` for several tasks. */
export type MpiOption = Pick<SlurmConfig, 'mpi'>;

/**
 * The plugin that serves no task. It is the default, whatever that of the site is: through the server of another one, a task
 * can start processes outside of its container.
 */
export const NO_MPI = 'none';
/** By which a task finds the server of the plugin `pmi2`, and where it is among the tasks. */
const VARIABLES = ['PMI_FD', 'PMI_JOBID', 'PMI_RANK', 'PMI_SIZE', 'PMI_SPAWNED'];

/** Throws `EngineError` `REJECTED` if the runtime does not leave the connection to the server open for the command. */
export function checkMpi(launch: Pick<Launch, 'job'>, { runtime, mpi }: Pick<SlurmConfig, 'runtime' | 'mpi'>): void {
  if (!usesMpi(launch, { mpi }) || runtime !== 'podman') return;
  const why = `the runtime ${runtime} of the cluster passes no connection of Slurm to a container`;
  throw new EngineError('REJECTED', `could not use 'slurm.mpi: ${mpi}' of the step: ${why}`);
}

/** Shell words as those of `gpuWords`, for all variables of a task that Slurm has set. */
export function passedWords(launch: Launch, option: MpiOption, word: (name: string) => string): string {
  return gpuWords(launch, word) + mpiWords(launch, option, word);
}

/** For the variables of the plugin. */
function mpiWords(launch: Pick<Launch, 'job'>, option: MpiOption, word: (name: string) => string): string {
  if (!usesMpi(launch, option)) return '';
  return VARIABLES.map((name) => `\${${name}+"${word(name)}"} `).join('');
}

/** Lines of a task's script, whose other parts use such file descriptors: those of one digit, which every shell knows. */
export const MOVE_CONNECTION = `case "\${PMI_FD-}" in
[0-9])
  eval "exec 7<&$PMI_FD"
  export PMI_FD=7
  ;;
esac
`;

function usesMpi(launch: Pick<Launch, 'job'>, { mpi = NO_MPI }: MpiOption): boolean {
  return mpi !== NO_MPI && tasksOf(launch).count > 1;
}
