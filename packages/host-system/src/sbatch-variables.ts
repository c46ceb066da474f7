/**
 * Variables by which a user, or the site, sets a default of `sbatch`, and its option. The others are not used: they can change
 * what a job is (`SBATCH_ARRAY_INX`), or concern what is set for each job anyway.
 */
const OPTIONS = new Map([
  ['SBATCH_ACCOUNT', 'account'],
  ['SBATCH_CONSTRAINT', 'constraint'],
  ['SBATCH_GRES', 'gres'],
  ['SBATCH_PARTITION', 'partition'],
  ['SBATCH_QOS', 'qos'],
  ['SBATCH_RESERVATION', 'reservation'],
]);

/** The options of `sbatch` that the environment sets, by their names. An empty value sets none. */
export function readSbatchVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value && isSbatchVariable(name) ? [[OPTIONS.get(name), value]] : [],
    ),
  );
}

/** Whether `readSbatchVariables` uses it. */
export function isSbatchVariable(name: string): boolean {
  return OPTIONS.has(name);
}
