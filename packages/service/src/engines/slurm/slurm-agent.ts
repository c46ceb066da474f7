import { fileURLToPath } from 'node:url';
import { TOLD } from '../allocation/allocation-files.ts';
import { shellQuote as q } from '../shell-quote.ts';
import { FAULT_RECORD } from './slurm-host-root.ts';
import type { SlurmRuntime } from './slurm-runtimes.ts';

/** The relative path is the same from `src` and `dist`. Node.js cannot run the source. */
const PROGRAM = fileURLToPath(new URL('../../../dist/engines/allocation/agent-main.js', import.meta.url));
/** A program that cannot run on the node is not started again and again. */
const MOST_STARTS = 20;

/**
 * Runs the agent of an allocation in the container's place. One that is killed is started again, and continues: containers
 * outlive it. Nodes must have this Node.js and this installation at the same paths.
 */
export const agentRuntime: SlurmRuntime = {
  prepare: () => `for needed in ${q(process.execPath)} ${q(PROGRAM)}; do
  [ -r "$needed" ] || {
    printf 'node %s has no %s: install Node.js and Sluice on a file system that all nodes share' "$SLURMD_NODENAME" "$needed" >"$d/${FAULT_RECORD}"
    exit 127
  }
done
`,
  start: () => `(
trap 'true >"$d/${TOLD}"' TERM
starts=0
until [ $starts -ge ${MOST_STARTS} ] || ${q(process.execPath)} ${q(PROGRAM)} "$d"; do
  starts=$((starts + 1))
  sleep 1
done
[ $starts -lt ${MOST_STARTS} ]
)`,
  ask: () => 'kill -TERM $(cat /proc/$pid/task/$pid/children)',
};
