import type { Launch } from '../engine.ts';
import { shellQuote as q } from '../shell-quote.ts';
import { tasksOf } from '../tasks-of.ts';
import { STOP_SIGNAL, withInput } from './script-lines.ts';
import {
  assignment,
  enteredHostRoot,
  FAULT_RECORD,
  heldHostRoot,
  REJECTION_RECORD,
  SETUP_RECORD,
  type SlurmHostRootOptions,
} from './slurm-host-root.ts';
import { passedWords } from './slurm-mpi.ts';
import { ASK_CHILD, endMapper, mapperLines, newNamespaces, type SlurmRuntime } from './slurm-runtimes.ts';

/** Beginning of the names of files that tell which tasks have ended. */
const OVER = 'over';

/**
 * Runs the commands of all tasks of a node in one container, so that they can share memory: libraries for MPI and for GPUs
 * connect the processes of a node in /dev/shm, by process IDs and by the IPC namespace. The first task of the node sets up the
 * container in `directory`, and ends it after the others; each task enters it.
 */
export function sharedRoot(directory: string): SlurmRuntime {
  return {
    prepare: (launch, options) => `n=${q(directory)} holder=
trap 'kill -KILL $holder 2>/dev/null; exit 143' TERM ${STOP_SIGNAL}
${holderLines({ ...launch, directory }, options)}d=${q(launch.directory)}
until [ -s "$n/${SETUP_RECORD}" ]; do
  [ ! -e "$n/${REJECTION_RECORD}" ] && [ ! -e "$n/${FAULT_RECORD}" ] || exit 125
  if [ -n "$holder" ] && ! kill -0 $holder 2>/dev/null && [ ! -s "$n/${SETUP_RECORD}" ]; then
    printf 'could not set up the container on node %s' "$SLURMD_NODENAME" >"$n/${FAULT_RECORD}"
  fi
  sleep 0.05
done
read -r target namespace <"$n/${SETUP_RECORD}"
`,
    start: (launch, options) =>
      `nsenter --user --preserve-credentials --mount --ipc --pid --target=$target env -i PATH="$PATH" ${passedWords(launch, options, assignment)}sh /dev/fd/9 "$namespace"`,
    input: enteredHostRoot,
    ask: () => ASK_CHILD,
    // After a failure, Slurm ends all tasks at once.
    finish: (launch, options) => `: >"$n/${OVER}-$SLURM_LOCALID"
if [ -n "$holder" ]; then
  while [ $code = 0 ] && set -- "$n/${OVER}"-* && [ $# -lt ${tasksOf(launch).perNode} ]; do sleep 0.05; done
  kill -KILL $holder 2>/dev/null
${endMapper(options)}fi
`,
  };
}

/** Sets up the container, in the first task of the node only. */
function holderLines(launch: Launch, options: SlurmHostRootOptions): string {
  // It ends with the task, also if that is killed.
  const start = `setpriv --pdeathsig KILL ${newNamespaces(options)} env -i PATH="$PATH" sh /dev/fd/9 "$0" &
holder=$!
`;
  return `if [ "$SLURM_LOCALID" = 0 ]; then
mkdir -m 700 "$n" "$n/root" "$n/tmp" || exit 125
d=$n
${mapperLines(options)}${withInput(start, heldHostRoot(launch, options))}fi
`;
}
