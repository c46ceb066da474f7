import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { own } from '@sluice/core';

/**
 * Looks up a pipeline's secrets: the variable `SLUICE_SECRET_<name>`, else the file
 * `secrets/<name>` in the home, without its final newline. Undefined where neither is there.
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
