import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { own } from '@sluice/core';

/**
 * Returns a function that looks up a secret: the variable `SLUICE_SECRET_<name>`, else the file `secrets/<name>` in the
 * home without its final newline. It returns undefined if neither exists.
 */
export function createSecretReader(home: string, env: NodeJS.ProcessEnv): (name: string) => string | undefined {
  return (name) => {
    const variable = own(env, `SLUICE_SECRET_${name}`);
    if (variable !== undefined) return variable;
    if (basename(name) !== name) return undefined;
    try {
      return readFileSync(join(home, 'secrets', name), 'utf8').replace(/\r?\n$/, '');
    } catch {
      return undefined;
    }
  };
}
