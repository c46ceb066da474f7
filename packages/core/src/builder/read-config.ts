import { guardArguments, isObject, requireArgument } from '../model/guard-arguments.ts';
import { own } from '../model/own.ts';

/** Maps by name, in which an undefined value is a mistake: JSON would omit the name. */
const NAMED = ['params', 'volumes', 'env', 'inputs', 'outputs', 'results', 'ports', 'with'];

/**
 * A config as plain JSON, read once, so that nothing that a program passes can fail later. Handles get the form that they
 * have in JSON. Throws `SluiceError` `INVALID_ARGUMENT`; the types of the values are for the checks.
 */
export function readConfig(what: string, config: unknown): Readonly<Record<string, unknown>> {
  return guardArguments(what, () => {
    requireArgument(isObject(config) && !Array.isArray(config), `${what}: the config must be an object`);
    for (const key of NAMED) requireValues(`${what}: ${key}`, own(config, key));
    const { inputs } = config;
    for (const [name, input] of Object.entries(isObject(inputs) ? inputs : {})) {
      if (isObject(input)) requireValues(`${what}: inputs.${name}.where`, own(input, 'where'));
    }
    const copy: unknown = JSON.parse(JSON.stringify(config));
    requireArgument(isObject(copy), `${what}: the config must be an object`);
    return copy;
  });
}

function requireValues(what: string, map: unknown): void {
  if (!isObject(map)) return;
  for (const [name, value] of Object.entries(map)) {
    requireArgument(value !== undefined, `${what}.${name} is undefined`);
  }
}
