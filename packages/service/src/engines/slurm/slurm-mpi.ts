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
const PMI2_VARIABLES = ['PMI_FD', 'PMI_JOBID', 'PMI_RANK', 'PMI_SIZE', 'PMI_SPAWNED'];
/** The same for `pmix`. By the last ones, Open MPI knows that it was started by `srun`. */
const PMIX_VARIABLES = [
  ...['PMIX_NAMESPACE', 'PMIX_RANK', 'PMIX_HOSTNAME', 'PMIX_VERSION', 'PMIX_SECURITY_MODE', 'PMIX_BFROP_BUFFER_TYPE'],
  ...['', '2', '21', '3', '4', '41', '5', '51'].map((version) => `PMIX_SERVER_URI${version}`),
  ...['PMIX_GDS_MODULE', 'PMIX_MCA_gds'],
  ...['SLURM_JOBID', 'SLURM_NODELIST', 'SLURM_STEP_ID'],
];

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
  const variables = option.mpi?.startsWith('pmix') ? PMIX_VARIABLES : PMI2_VARIABLES;
  return variables.map((name) => `\${${name}+"${word(name)}"} `).join('');
}

/**
 * Lines of a task's script, whose other parts use such file descriptors: those of one digit, which every shell knows. The server
 * of PMIx otherwise answers by files in a directory of the node that a container does not see.
 */
export const ADAPT_CONNECTION = `case "\${PMI_FD-}" in
[0-9])
  eval "exec 7<&$PMI_FD"
  export PMI_FD=7
  ;;
esac
[ -z "\${PMIX_NAMESPACE-}" ] || export PMIX_GDS_MODULE=hash PMIX_MCA_gds=hash
`;

function usesMpi(launch: Pick<Launch, 'job'>, { mpi = NO_MPI }: MpiOption): boolean {
  return mpi !== NO_MPI && tasksOf(launch).count > 1;
}
