import type { Launch } from '../engine.ts';
import { shellQuote as q, shellWords as words } from '../shell-quote.ts';
import { meetingPort, tasksOf, taskVariables } from '../tasks-of.ts';
import { NOTE_STOP, STOP_SIGNAL, waitLines, withInput } from './script-lines.ts';
import { FAULT_RECORD, REJECTION_RECORD } from './slurm-host-root.ts';
import { ADAPT_CONNECTION, type MpiOption, NO_MPI } from './slurm-mpi.ts';

/** The step of the tasks of a container that is itself a step of a job has the name of the container with this end. */
export const TASKS_NAME = '-tasks';

/** How the tasks of a container are started. */
interface TaskOptions extends MpiOption {
  /** The names of its nodes, if the container is a step of a job. Default: it has the job. */
  readonly nodes?: readonly string[] | undefined;
  /** The lines for one task. `nodeDirectory`: a directory of its node, which has several tasks. */
  readonly commandLines: (launch: Launch, nodeDirectory: string | undefined) => string;
}

/** The exit code of the first task that failed, written exclusively in the container's directory. */
const FIRST_FAILURE = 'first-failure';

/** The number of the step of the tasks, written there by the first one. */
const STEP_ID = 'step-id';

/**
 * Runs the command of a container once for each task, in one step of its job, and leaves the exit code in `$code`: that of the
 * first task that failed, after which Slurm ends the others. `commandLines` are those of a container with one task, which
 * here have a directory of their own for each.
 *
 * A task's script is the same for all, with marks for what differs. It contains variables of the container, so it is in no file
 * and no argument: `srun` passes its standard input to all tasks.
 */
export function tasksLines(launch: Launch, { mpi = NO_MPI, nodes, commandLines }: TaskOptions): string {
  const tasks = tasksOf(launch);
  const marks = marksFor(launch);
  const directory = `${launch.directory}/rank-${marks.rank}`;
  const nodeDirectory = tasks.perNode === 1 ? undefined : `${launch.directory}/node-${marks.node}`;
  const task: Launch = {
    ...launch,
    key: `${launch.key}-${marks.rank}`,
    directory,
    limits: { ...launch.limits, gpus: launch.limits.gpus / tasks.count },
    env: {
      ...launch.env,
      ...taskVariables(tasks, { ...marks, port: meetingPort(launch) }),
      RANK: marks.rank,
      LOCAL_RANK: marks.localRank,
      SLUICE_NODE_RANK: marks.node,
    },
  };
  const script = `main() {
d=${q(directory)}
${NOTE_STOP}mkdir -m 700 "$d" "$d/root" "$d/tmp" || exit 125
${commandLines(task, nodeDirectory)}[ $code = 0 ] || {
  set -C
  echo $code >${q(`${launch.directory}/${FIRST_FAILURE}`)}
} 2>/dev/null
exit $code
}
main </dev/null
`;
  // Slurm stops all tasks when one has failed, so the greatest of their codes says nothing about the first.
  const srun = `srun ${nodes === undefined ? '' : `${ofJobWords(launch, nodes)} `}--label --mpi=${q(mpi)} --kill-on-bad-exit=1 --nodes=${tasks.nodes} --ntasks=${tasks.count} --ntasks-per-node=${tasks.perNode} \
--cpus-per-task=${launch.limits.cores / tasks.count} sh -c ${q(taskCommand(marks, launch))} <&9 9<&- &
pid=$!
`;
  const stepId = nodes === undefined ? '0' : `$(cat "$d/${STEP_ID}")`;
  const hosts = nodes === undefined ? ALL_HOSTS : `hosts=${q(`${nodes.join(',')},`)}\n${FORGET_STEP}`;
  return `${hosts}first=$(scontrol --oneliner show node "\${hosts%%,*}" | sed -n 's/.* NodeAddr=\\([^ ]*\\).*/\\1/p')
export SLUICE_JOB_HOSTS="\${hosts%,}" SLUICE_JOB_FIRST="\${first:-\${hosts%%,*}}" SLUICE_JOB_NODE="$SLURMD_NODENAME" SLUICE_JOB_SCRIPT="$0"
${withInput(srun, script)}${waitLines(askTasks(tasks.count, stepId))}\
if [ -s "$d/${FIRST_FAILURE}" ]; then
  read -r code <"$d/${FIRST_FAILURE}"
elif [ $code != 0 ] && ! $asked; then
  printf 'could not start the tasks of job %s: %s' "$SLURM_JOB_ID" "$(tail -n 1 ${q(launch.logPath)})" >"$d/${FAULT_RECORD}"
fi
for found in "$d"/*-*/${REJECTION_RECORD} "$d"/*-*/${FAULT_RECORD}; do
  [ ! -e "$found" ] || cat "$found" >"$d/\${found##*/}"
done
`;
}

/** Waits until each task has its directory: from then on it notes the signal. Before, `srun` or the kernel would drop it. */
function askTasks(count: number, stepId: string): string {
  return `while kill -0 $pid; do
  set -- "$d"/rank-*
  if [ $# = ${count} ]; then
    scancel --quiet --signal=${STOP_SIGNAL} "$SLURM_JOB_ID.${stepId}"
    break
  fi
  sleep 0.2
done`;
}

const ALL_HOSTS = `hosts=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | tr '\\n' ',')
`;

/** Most variables that Slurm sets in a step would be options of the next one. */
const FORGET_STEP = `for name in $(env | sed -n 's/^\\(SLURM_[A-Za-z0-9_]*\\)=.*/\\1/p'); do
  case $name in SLURM_JOB_ID | SLURM_CONF) ;; *) unset "$name" ;; esac
done
`;

/** Options of a step on some nodes of a job, beside those that are there. */
function ofJobWords({ key, limits, ...launch }: Launch, nodes: readonly string[]): string {
  const { gpus } = limits;
  return words([
    ...[`--nodelist=${nodes.join(',')}`, `--job-name=${key}${TASKS_NAME}`],
    ...['--overlap', '--mem=0'],
    ...(gpus === 0 ? [] : [`--gres=gpu:${gpus / tasksOf(launch).nodes}`]),
  ]);
}

type Marks = Readonly<Record<'rank' | 'localRank' | 'node' | 'first' | 'hosts', string>>;

/** Texts that the launch does not contain, and of which none contains another. */
function marksFor(launch: Launch): Marks {
  const text = JSON.stringify(launch);
  let prefix = '@task-';
  while (text.includes(prefix)) prefix += '-';
  return {
    rank: `${prefix}RANK@`,
    localRank: `${prefix}LOCAL@`,
    node: `${prefix}NODE@`,
    first: `${prefix}FIRST@`,
    hosts: `${prefix}HOSTS@`,
  };
}

/**
 * Runs the script from its standard input in place of each mark. The path of the job's script, which the command must not see, is
 * that of this node. It outlives SIGTERM: where Slurm finds the processes of a job by their parents, it would lose those of a
 * task that has no parent any more.
 */
function taskCommand(marks: Marks, { directory }: Pick<Launch, 'directory'>): string {
  const values = {
    rank: '$SLURM_PROCID',
    localRank: '$SLURM_LOCALID',
    node: '$SLURM_NODEID',
    first: '$SLUICE_JOB_FIRST',
    hosts: '$SLUICE_JOB_HOSTS',
  };
  const edits = Object.entries(values).map(([name, value]) => `-e "s|${marks[name as keyof Marks]}|${value}|g"`);
  return `trap : TERM
[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_STEP_ID" >${q(`${directory}/${STEP_ID}`)}
${ADAPT_CONNECTION}here=$(printf %s "$SLUICE_JOB_SCRIPT" | sed "s|$SLUICE_JOB_NODE|$SLURMD_NODENAME|g")
sed ${edits.join(' ')} | sh -c '. /dev/stdin' "$here"`;
}
