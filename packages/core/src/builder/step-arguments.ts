import { SluiceError } from '../model/sluice-error.ts';
import { type CellsConfig, cellHandles } from './cells.ts';
import type { ResultShapes, StepConfig } from './step-config.ts';

type GivenConfig = StepConfig<string, ResultShapes> & { readonly final?: boolean };

/** The arguments of `step` after the name, for callers without types. */
export function readStepArguments(
  name: string,
  given: readonly unknown[],
): { readonly config: GivenConfig; readonly cells?: CellsConfig } {
  requireArgument(typeof name === 'string', 'step: the name must be a string');
  const [first, second] = given;
  requireArgument(isObject(first), `step ${name}: the config must be an object`);
  if (second === undefined) return { config: first as GivenConfig };
  requireArgument(
    'matrix' in first || 'foreach' in first,
    `step ${name}: an object with \`matrix\` or \`foreach\` must come before the function`,
  );
  requireArgument(typeof second === 'function', `step ${name}: the config of a step with cells must be a function`);
  const cells = first as CellsConfig;
  const config = (second as (cell: unknown) => unknown)(cellHandles(cells));
  requireArgument(isObject(config), `step ${name}: the function must return an object`);
  return { config: config as GivenConfig, cells };
}

/** Whether a value is an object, so that its keys can be read. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Throws `SluiceError` `INVALID_ARGUMENT` where the condition does not hold. */
export function requireArgument(isRight: boolean, message: string): asserts isRight {
  if (!isRight) throw new SluiceError('INVALID_ARGUMENT', message);
}
