import type { Path } from '../parse/source-document.ts';
import type { Check } from './check-context.ts';

const RESERVED = 'SLUICE_';

/** No variable of the file has a name that Sluice sets in containers, now or in a later version. */
export const checkVariables: Check = ({ raw, steps, report }) => {
  const check = (names: readonly string[], pathOf: (name: string, index: number) => Path, on?: 'key'): void => {
    for (const [index, name] of names.entries()) {
      if (!name.startsWith(RESERVED)) continue;
      report({
        code: 'reserved-variable',
        message: `the variable \`${name}\` has the prefix \`${RESERVED}\`, which is reserved`,
        path: pathOf(name, index),
        ...(on && { on }),
        hint: 'choose another name; docs/pipeline.md lists the variables that every container has',
      });
    }
  };
  const checkEnv = (env: Readonly<Record<string, string>> | undefined, at: Path): void =>
    check(Object.keys(env ?? {}), (name) => [...at, 'env', name], 'key');
  checkEnv(raw.env, []);
  checkEnv(raw.defaults?.env, ['defaults']);
  check(raw.secrets ?? [], (_, index) => ['secrets', index]);
  for (const step of steps.values()) {
    checkEnv(step.raw.env, step.path);
  }
};
