/**
 * Forms of earlier versions: what the error `COMMAND: MESSAGE` of an old form looks like, the form, and its replacement.
 * `$1` is the first group of the pattern.
 */
const OLD_FORMS: readonly (readonly [error: RegExp, old: string, replacement: string])[] = [
  [/^(logs|why|approve): .*too many arguments/, '$1 RUN STEP', '$1 -r RUN STEP'],
  [/^(run|plan): .*unknown option '--from'/, '$1 --from RUN', '$1 --reuse-from RUN'],
  [/^(run|plan): .*unknown option '--again'/, '$1 --again STEP', '$1 --force STEP'],
  [/^(run|resume): .*unknown option '--no-wait'/, '$1 --no-wait', '$1 --stop-at-approval'],
  [/^([^:]+): .*unknown option '--cores'/, '$1 --cores N', '$1 --cpu N'],
  [/^gc: .*unknown option '--orphans'/, 'gc --orphans', 'orphans'],
  [/^schedule: .*unknown option '--once'/, 'schedule --once FILE', 'schedule run --once FILE'],
  [/^schedule: .*unknown option '--next'/, 'schedule --next N FILE', 'schedule next -n N FILE'],
  [/^schedule: .*unknown option '--backfill'/, 'schedule --backfill FROM..TO FILE', 'schedule backfill FROM..TO FILE'],
  [/^schedule: .*unknown command/, 'schedule FILE', 'schedule run FILE'],
  [/^: .*unknown command '(user|account|cluster|instance-type)'/, '$1', 'admin $1'],
  [/^: .*unknown command 'authority'/, 'authority', 'admin certificate'],
];

/** The replacement of an old form, as a line to print after the parser's error; empty for other errors. */
export function describeOldForm(command: string, message: string): string {
  const error = `${command}: ${message.trim()}`;
  for (const [pattern, old, replacement] of OLD_FORMS) {
    const match = pattern.exec(error);
    if (match === null) continue;
    const [from, to] = [old, replacement].map((text) => text.replace('$1', match[1] ?? ''));
    return `\`sluice ${from}\` is now \`sluice ${to}\`\n`;
  }
  return '';
}
