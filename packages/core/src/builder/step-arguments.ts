import { guardArguments, isObject, requireArgument } from '../model/guard-arguments.ts';
import { type CellsConfig, cellHandles } from './cells.ts';
import { readConfig } from './read-config.ts';

/**
 * The arguments of `step` after the name, for callers without types; `final` may stand beside the cells, too. `check` is
 * called with each config before it is read, and may throw.
 */
export function readStepArguments(
  name: unknown,
  given: readonly unknown[],
  check: (config: unknown) => void,
): { readonly name: string; readonly config: Readonly<Record<string, unknown>>; readonly cells?: CellsConfig } {
  requireArgument(typeof name === 'string', 'step: the name must be a string');
  const [first, second] = given;
  const what = `step ${name}`;
  check(first);
  const read = readConfig(what, first);
  if (second === undefined) return { name, config: read };
  requireArgument(
    'matrix' in read || 'foreach' in read,
    `${what}: an object with \`matrix\` or \`foreach\` must come before the function`,
  );
  requireArgument(!('each' in read), `${what}: \`each\` excludes \`matrix\` and \`foreach\``);
  requireArgument(typeof second === 'function', `${what}: the config of a step with cells must be a function`);
  const cells = read as CellsConfig;
  const handles = guardArguments(what, () => cellHandles(cells));
  // What the program's own function throws is not changed.
  const config: unknown = (second as (cell: unknown) => unknown)(handles);
  requireArgument(isObject(config), `${what}: the function must return an object`);
  check(config);
  return { name, config: readConfig(what, config), cells };
}
