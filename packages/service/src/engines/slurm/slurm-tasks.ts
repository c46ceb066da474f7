import type { Launch } from '../engine.ts';
import { shellQuote as q } from '../shell-quote.ts';
import { MEETING_PORTS, tasksOf, taskVariables } from '../tasks-of.ts';
import { STOP_SIGNAL, waitLines, withInput } from './script-lines.ts';
import { FAULT_RECORD, REJECTION_RECORD } from './slurm-host-root.ts';
import { ADAPT_CONNECTION, type MpiOption, NO_MPI } from './slurm-mpi.ts';

/** How the tasks of a container are started. */
interface TaskOptions extends MpiOption {
  /** The lines for one task. `nodeDirectory`: a directory of its node, which has several tasks. */
  readonly commandLines: (launch: Launch, nodeDirectory: string | undefined) => string;
}

/** The exit code of the first task that failed, written exclusively in the container's directory. */
const FIRST_FAILURE = 'first-failure';

/**
 * Runs the command of a container once for each task, in one step of its job, and leaves the exit code in `$code`: that of the
 * first task that failed, after which Slurm ends the others. `commandLines` are those of a container with one task, which
 * here have a directory of their own for each.
 *
 * A task's script is the same for all, with marks for what differs. It contains variables of the container, so it is in no file
 * and no argument: `srun` passes its standard input to all tasks.
 */
export function tasksLines(launch: Launch, { mpi = NO_MPI, commandLines }: TaskOptions): string {
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
      ...taskVariables(tasks, marks),
      RANK: marks.rank,
      LOCAL_RANK: marks.localRank,
      SLUICE_NODE_RANK: marks.node,
    },
  };
  const script = `main() {
d=${q(directory)}
mkdir -m 700 "$d" "$d/root" "$d/tmp" || exit 125
${commandLines(task, nodeDirectory)}[ $code = 0 ] || {
  set -C
  echo $code >${q(`${launch.directory}/${FIRST_FAILURE}`)}
} 2>/dev/null
exit $code
}
main </dev/null
`;
  // Slurm stops all tasks when one has failed, so the greatest of their codes says nothing about the first.
  const srun = `srun --label --mpi=${q(mpi)} --kill-on-bad-exit=1 --nodes=${tasks.nodes} --ntasks=${tasks.count} --ntasks-per-node=${tasks.perNode} \
--cpus-per-task=${launch.limits.cores / tasks.count} sh -c ${q(taskCommand(marks))} <&9 9<&- &
pid=$! asked=false
`;
  return `hosts=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | tr '\\n' ',')
first=$(scontrol --oneliner show node "\${hosts%%,*}" | sed -n 's/.* NodeAddr=\\([^ ]*\\).*/\\1/p')
export SLUICE_JOB_HOSTS="\${hosts%,}" SLUICE_JOB_FIRST="\${first:-\${hosts%%,*}}" SLUICE_JOB_NODE="$SLURMD_NODENAME" SLUICE_JOB_SCRIPT="$0"
${withInput(srun, script)}${waitLines(`scancel --quiet --signal=${STOP_SIGNAL} "$SLURM_JOB_ID.0"`)}\
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

type Marks = Readonly<Record<'rank' | 'localRank' | 'node' | 'first' | 'hosts' | 'port', string>>;

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
    port: `${prefix}PORT@`,
  };
}

/**
 * Runs the script from its standard input in place of each mark. The path of the job's script, which the command must not see, is
 * that of this node. It outlives SIGTERM: where Slurm finds the processes of a job by their parents, it would lose those of a
 * task that has no parent any more.
 */
function taskCommand(marks: Marks): string {
  const values = {
    rank: '$SLURM_PROCID',
    localRank: '$SLURM_LOCALID',
    node: '$SLURM_NODEID',
    first: '$SLUICE_JOB_FIRST',
    hosts: '$SLUICE_JOB_HOSTS',
    port: `$((${MEETING_PORTS.first} + SLURM_JOB_ID % ${MEETING_PORTS.count}))`,
  };
  const edits = Object.entries(values).map(([name, value]) => `-e "s|${marks[name as keyof Marks]}|${value}|g"`);
  return `trap : TERM
${ADAPT_CONNECTION}here=$(printf %s "$SLUICE_JOB_SCRIPT" | sed "s|$SLUICE_JOB_NODE|$SLURMD_NODENAME|g")
sed ${edits.join(' ')} | sh -c '. /dev/stdin' "$here"`;
}
