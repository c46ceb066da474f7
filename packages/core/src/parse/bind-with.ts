import type { Fault } from '../checks/fault.ts';
import { suggestName } from '../checks/nearest-name.ts';
import { expressionOf } from '../expressions/rewrite-templates.ts';
import { hasExpression } from '../expressions/split-template.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Param } from '../model/pipeline.ts';
import { bindParam } from '../plan/bind-params.ts';
import type { RawMap } from './file-set.ts';
import type { Path } from './source-document.ts';

/** The parameters of a used file, bound to expressions of the using file. */
export interface BoundWith {
  /** By parameter: the expression that replaces it. */
  readonly values: ReadonlyMap<string, string>;
  readonly faults: readonly Fault[];
}

/**
 * Binds the parameters of a used file to the values in `with` and to their defaults. `at` is the path of the using
 * step.
 */
export function bindWith(params: Readonly<Record<string, Param>>, given: RawMap, at: Path): BoundWith {
  const faults: Fault[] = [];
  const values = new Map<string, string>();
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(params, name)) continue;
    const message = `the used file has no parameter \`${name}\``;
    faults.push({
      code: 'unknown-param',
      message,
      path: [...at, 'with', name],
      on: 'key',
      ...suggestName(name, Object.keys(params)),
    });
  }
  for (const [name, param] of Object.entries(params)) {
    const value = Object.hasOwn(given, name) ? own(given, name) : param.default;
    if (value === undefined && param.required) {
      faults.push({
        code: 'missing-param',
        message: `\`with\` has no value for the parameter \`${name}\` of the used file`,
        path: [...at, 'uses'],
        on: 'key',
      });
      // A placeholder of any type, to avoid faults that only follow from this one.
      values.set(name, 'dyn(0)');
      continue;
    }
    values.set(name, expressionOf(checked(name, param, value ?? null), { double: param.type === 'number' }));
  }
  return { values, faults };

  function checked(name: string, param: Param, value: Json): Json {
    if (value === null || (typeof value === 'string' && hasExpression(value))) return value;
    const bound = bindParam(param, value);
    if (bound.ok) return bound.value;
    faults.push({ code: 'bad-param', message: `parameter \`${name}\` ${bound.error}`, path: [...at, 'with', name] });
    return value;
  }
}
