import type { Launch } from '../engine.ts';
import { hostFileLines, meetingPort, type Tasks, taskVariables } from '../tasks-of.ts';

/**
 * Starts the command that is in its arguments once for each task, labels each line of the output with the rank, and exits
 * with the code of the first task that failed, having ended the others. What does not end then is ended by the engine, like all
 * that outlives a command.
 *
 * Each task reports its process and its end, and each label its last line, through one pipe, because a shell cannot wait for
 * the first of several processes. Only a process that is known is signaled: a shell would lose a signal between its start
 * and that of the command. `over` in the output ends a last line without a line break: to find the last line itself, `sed` would
 * hold each one back until the next.
 */
const SCRIPT = `nodes=$1 per=$2
shift 2
count=$((nodes * per)) width=$((nodes * per - 1))
width=\${#width}
t=$(mktemp -d) || exit 125
trap 'rm -rf "$t"' EXIT
over=over-\${t##*.}
mkfifo "$t/ends" && exec 3<>"$t/ends" || exit 125
asked= code=0
end() {
  asked=1 i=0
  while [ $i -lt $count ]; do
    eval "kill -TERM \\$pid$i" 2>/dev/null
    i=$((i + 1))
  done
}
trap end TERM
r=0
while [ $r -lt $count ]; do
  label=$(printf "%0\${width}d" $r)
  mkfifo "$t/$r" || exit 125
  (
    trap '' TERM
    sed -u -e "/^$over$/d" -e "s/$over$//" -e "s/^/$label: /" <"$t/$r"
    echo "label $r 0" >&3
  ) &
  (
    export RANK=$r LOCAL_RANK=$((r % per)) SLUICE_NODE_RANK=$((r / per))
    ${hostFileLines('$t')}    (exec "$@" 3>&-) &
    c=$!
    trap : TERM
    echo "up $r $c" >&3
    wait $c 2>/dev/null
    code=$?
    while kill -0 $c 2>/dev/null; do
      wait $c 2>/dev/null
      code=$?
    done
    echo "$over"
    echo "task $r $code" >&3
  ) >"$t/$r" 2>&1 &
  r=$((r + 1))
done
tasks=$count labels=$count
late() {
  (
    trap '' TERM
    sleep "$1"
    echo "late 0 0" >&3
  ) >/dev/null 2>&1 &
}
while [ $tasks -gt 0 ] || [ $labels -gt 0 ]; do
  read -r what r value <&3 || continue
  case $what in
  up)
    eval "pid$r=$value"
    [ -z "$asked" ] || kill -TERM $value 2>/dev/null
    ;;
  task)
    eval "pid$r="
    tasks=$((tasks - 1))
    # A process that a task has left behind may keep its output open.
    [ $tasks -gt 0 ] || late 2
    if [ $value != 0 ] && [ $code = 0 ]; then
      code=$value
      end
      late 10
    fi
    ;;
  label) labels=$((labels - 1)) ;;
  late) break ;;
  esac
done
exit $code
`;

/** The command, and its variables, of a container with several tasks: all of them on this machine. */
export function tasksCommand(
  { key, command }: Pick<Launch, 'key' | 'command'>,
  tasks: Tasks,
): { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> } {
  const first = '127.0.0.1';
  const hosts = Array.from({ length: tasks.nodes }, () => first).join(',');
  return {
    argv: ['sh', '-c', SCRIPT, 'sh', String(tasks.nodes), String(tasks.perNode), ...command],
    env: taskVariables(tasks, { first, port: meetingPort({ key }), hosts }),
  };
}
