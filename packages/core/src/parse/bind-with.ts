import type { Fault } from '../checks/fault.ts';
import { suggestName } from '../checks/nearest-name.ts';
import { fromDoubleTemplates } from '../expressions/double-templates.ts';
import { mergeDoubles } from '../expressions/doubles.ts';
import type { Reference } from '../expressions/reference.ts';
import { expressionOf, type Replacement, rewriteTemplates } from '../expressions/rewrite-templates.ts';
import { hasExpression } from '../expressions/split-template.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { BoundValue, Param } from '../model/param.ts';
import { bindParam } from '../plan/bind-params.ts';
import { declaredDoubles, givenDoubles } from '../plan/param-doubles.ts';
import { isRawMap, type RawMap } from './raw-map.ts';
import { optional } from './resolve-step.ts';
import type { Path } from './source-document.ts';

/** The parameters of a used file, bound to expressions of the using file. */
export interface BoundWith {
  /** By parameter: the expression that replaces it. */
  readonly values: ReadonlyMap<string, string>;
  readonly faults: readonly Fault[];
  /** Replaces one parameter, or `params` as a whole, which computed names need. */
  readonly replaceParams: (reference: Reference) => Replacement | undefined;
}

/** The place of the values, and where lists and maps are kept. */
export interface BindOptions {
  /** The path of the using step. */
  readonly at: Path;
  /** Keeps a list or a map of the parameter, and returns its name in expressions. */
  readonly bind: (param: string, bound: BoundValue) => string;
}

/** Binds the parameters of a used file to the values in `with` and to their defaults. */
export function bindWith(params: Readonly<Record<string, Param>>, given: RawMap, { at, bind }: BindOptions): BoundWith {
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
    // A default is a literal, as in a run of the file by itself.
    const literal = !Object.hasOwn(given, name);
    const written = literal ? param.default : (own(given, name) ?? null);
    if (written === undefined && param.required) {
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
    const { value = null, doubles } =
      !literal && typeof written === 'object' ? fromDoubleTemplates(written) : { value: written, doubles: undefined };
    const bound = checked(name, param, value);
    const source = expressionOf(bound, {
      literal,
      doubles: mergeDoubles([declaredDoubles(param), doubles, givenDoubles(value, bound)]),
      bind: (part, typed) => `bound.${bind(name, { value: part, ...optional('doubles', typed) })}`,
    });
    values.set(name, source);
  }
  return { values, faults, replaceParams };

  function replaceParams({ root, keys: [name, ...rest] }: Reference): Replacement | undefined {
    if (root !== 'params') return undefined;
    if (name === undefined) return { source: asMap(values), rest: [] };
    const source = values.get(name);
    return source === undefined ? undefined : { source, rest };
  }

  function checked(name: string, param: Param, value: Json): Json {
    if (value === null || (typeof value === 'string' && hasExpression(value))) return value;
    const bound = bindParam(param, value);
    if (bound.ok) return bound.value;
    faults.push({ code: 'bad-param', message: `parameter \`${name}\` ${bound.error}`, path: [...at, 'with', name] });
    return value;
  }
}

function asMap(values: ReadonlyMap<string, string>): string {
  return `{${[...values].map(([name, source]) => `${JSON.stringify(name)}: ${source}`).join(', ')}}`;
}

/** Names that a step with a used pipeline does not have. In the used pipeline, they would refer to the steps there. */
const OF_CONTAINERS: ReadonlySet<string> = new Set(['matrix', 'item', 'inputs', 'outputs', 'env']);

/**
 * The values of `with` for a used pipeline, with the variables of the using pipeline in place. Reports what only a step
 * with a container has.
 */
export function bindVariables(
  given: RawMap,
  { env, at, report }: { readonly env: Json | undefined; readonly at: Path; readonly report: (fault: Fault) => void },
): RawMap {
  const variables = isRawMap(env) ? env : {};
  return rewriteTemplates(given, ({ root, keys: [name, ...rest] }, path) => {
    const variable = root === 'env' && name !== undefined ? own(variables, name) : undefined;
    const place = [...at, 'with', ...path];
    if (typeof variable === 'string') {
      const value = rewriteTemplates(variable, (reference) => reject(reference.root, place));
      return { source: expressionOf(value), rest };
    }
    if (root === 'env' && name !== undefined) {
      const message = `the pipeline has no environment variable \`${name}\``;
      report({ code: 'unknown-name', message, path: place, ...suggestName(name, Object.keys(variables)) });
      return { source: 'dyn(0)', rest: [] };
    }
    return reject(root, place);
  }) as RawMap;

  function reject(root: string, path: Path): Replacement | undefined {
    if (!OF_CONTAINERS.has(root)) return undefined;
    const message = `\`${root}\` is not available in \`with\` of a step that uses a pipeline`;
    report({
      code: 'unknown-name',
      message,
      path,
      hint: 'use params, steps, run, secrets, or a variable of the pipeline',
    });
    return { source: 'dyn(0)', rest: [] };
  }
}
