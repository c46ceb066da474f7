/**
 * The signal that requests the end of the command. Slurm sends it to every process of the batch step, so it is one that is
 * ignored by default; the script then sends SIGTERM to the command alone.
 */
export const STOP_SIGNAL = 'URG';

/** Waits for `$pid`, also after signals that the script handles, and leaves its exit code in `$code`. */
export const WAIT = `wait $pid
code=$?
while kill -0 $pid 2>/dev/null; do
  wait $pid
  code=$?
done
`;

/**
 * Starts a command and exits with its code, as the first process of a PID namespace: the kernel would not deliver SIGTERM to a
 * command in its place that does not handle it.
 */
export function firstProcessLines(command: string): string {
  return `${command} &
pid=$!
trap 'kill -TERM $pid 2>/dev/null' TERM
${WAIT}exit $code
`;
}

/** Notes a signal that requests the end, for `waitLines`: it may come before there is a command to pass it on to. */
export const NOTE_STOP = `asked=false
trap 'asked=true' TERM ${STOP_SIGNAL}
`;

/** `WAIT`, where `ask` passes on a signal that requests the end, also one that `NOTE_STOP` has noted. */
export function waitLines(ask: string): string {
  return `ask() {
${ask}
} 2>/dev/null
trap 'asked=true; ask' TERM ${STOP_SIGNAL}
! $asked || ask
${WAIT}`;
}

/**
 * The script itself starts the process that writes a long text into a pipe, so that the process of the container gets only
 * its own signals.
 */
export function withInput(lines: string, input: string): string {
  let mark = 'INPUT';
  while (input.includes(mark)) mark += '_';
  return `{
${lines}} 9<<'${mark}' || exit 1
${hideLineBreaks(input)}${mark}
`;
}

/** `sbatch` rejects a script with the line breaks of DOS. Only quoted values can contain them. */
export function hideLineBreaks(lines: string): string {
  if (!lines.includes('\r\n')) return lines;
  return `cr=$(printf '\\r')\n${lines.replaceAll('\r\n', `'"$cr"'\n`)}`;
}
