import { fileURLToPath } from 'node:url';
import { IDLE, REPORTS, TOLD } from '../allocation/allocation-files.ts';
import { renderLine } from '../allocation/spool-lines.ts';
import type { Launch } from '../engine.ts';
import { shellQuote as q } from '../shell-quote.ts';
import { tasksOf } from '../tasks-of.ts';
import { ALL_OF_NODE } from './slurm-nodes.ts';
import type { SlurmRuntime } from './slurm-runtimes.ts';

/** The relative path is the same from `src` and `dist`. Node.js cannot run the source. */
const PROGRAM = fileURLToPath(new URL('../../../dist/engines/allocation/agent-main.js', import.meta.url));
/** A program that cannot run on the node is not started again and again. */
const MOST_STARTS = 20;
/** What the script reports of a node whose agent cannot, after the line that a killed one may have begun. */
const LEAVING = `\\n${renderLine({ type: 'leaving', reason: 'node %s %s' }).trimEnd()}\\n`;

/**
 * Runs the agent of a node in the directory `$d`, with the number `$number`, of the allocation in the directory `$top`. One that
 * is killed is started again, and continues: containers outlive it.
 */
const LOOP = `trap 'true >"$d/${TOLD}"' TERM
leave() {
  printf ${q(LEAVING)} "$SLURMD_NODENAME" "$1" >>"$d/${REPORTS}"
  true >"$d/${IDLE}"
  exit 1
}
for needed in ${q(process.execPath)} ${q(PROGRAM)}; do
  [ -r "$needed" ] || leave "has no $needed: install Node.js and Sluice on a file system that all nodes share"
done
starts=0
until ${q(process.execPath)} ${q(PROGRAM)} "$top" "$number"; do
  starts=$((starts + 1))
  [ $starts -lt ${MOST_STARTS} ] || leave "cannot run its agent: see $top/log"
  sleep 1
done
true >"$d/${IDLE}"
`;

/** As `nodeDirectories`. */
const OF_NODE = `top=$1 number=$SLURM_NODEID d=$1
[ "$number" = 0 ] || d=$1.$number
${LOOP}`;

/**
 * Runs the agents of an allocation in the container's place: one on each node, which has all of it. Nodes must have this Node.js
 * and this installation at the same paths.
 */
export const agentRuntime: SlurmRuntime = {
  start: (launch) => {
    const { nodes } = tasksOf(launch);
    if (nodes === 1) return `(\ntop=$d number=0\n${LOOP})`;
    const options = [...ALL_OF_NODE, '--kill-on-bad-exit=0', `--nodes=${nodes}`, `--ntasks=${nodes}`];
    return `srun ${options.join(' ')} --ntasks-per-node=1 sh -c ${q(OF_NODE)} sh "$d"`;
  },
  ask: (launch: Launch) =>
    tasksOf(launch).nodes === 1
      ? 'kill -TERM $(cat /proc/$pid/task/$pid/children)'
      : 'scancel --quiet --signal=TERM "$SLURM_JOB_ID.0"',
};
