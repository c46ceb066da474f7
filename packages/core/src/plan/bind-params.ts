import { suggestName } from '../checks/nearest-name.ts';
import { checkPattern } from '../expressions/cel.ts';
import type { Doubles } from '../expressions/doubles.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { jsonFault } from '../model/json-fault.ts';
import { isOfType } from '../model/json-type.ts';
import { describeLargeInteger, findLargeInteger } from '../model/large-integer.ts';
import { own } from '../model/own.ts';
import type { Param } from '../model/param.ts';
import type { Pipeline } from '../model/pipeline.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { showJson } from '../render/show-json.ts';
import { findRowFault } from '../tables/find-row-fault.ts';
import { givenDoubles } from './param-doubles.ts';

/** The values of all parameters, and the doubles that only the given texts show, each by name. */
export interface BoundParams {
  readonly values: Readonly<Record<string, Json>>;
  readonly doubles: Readonly<Record<string, Doubles>>;
}

/** Converts given strings by type, and takes the defaults for the others. Reports all faults, sorted by name. */
export function bindParams(
  pipeline: Pipeline,
  given: Readonly<Record<string, Json>>,
): Result<BoundParams, readonly Diagnostic[]> {
  const faults: Diagnostic[] = [];
  const report = (code: string, message: string, hint: { hint?: string } = {}): void => {
    faults.push({ code, severity: 'error', message, ...hint });
  };
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(pipeline.params, name)) continue;
    const message = `pipeline \`${pipeline.name}\` has no parameter \`${name}\``;
    report('unknown-param', message, suggestName(name, Object.keys(pipeline.params)));
  }
  const values: Record<string, Json> = {};
  const doubles: Record<string, Doubles> = {};
  for (const [name, param] of Object.entries(pipeline.params)) {
    const value = Object.hasOwn(given, name) ? own(given, name) : param.default;
    if (value === undefined) {
      const hint = `give it one for this run: -p ${name}=VALUE`;
      if (param.required) report('missing-param', `parameter \`${name}\` has no value and no default`, { hint });
      else values[name] = null;
      continue;
    }
    const bound = bindParam(param, value);
    if (!bound.ok) {
      report('bad-param', `parameter \`${name}\` ${bound.error}`);
      continue;
    }
    values[name] = bound.value;
    const written = givenDoubles(value, bound.value);
    if (written !== undefined) doubles[name] = written;
  }
  return faults.length === 0 ? ok({ values, doubles }) : fail(faults);
}

/** Converts and checks one value. The error continues a sentence that begins with the parameter. */
export function bindParam(param: Param, given: Json): Result<Json, string> {
  const value = typeof given === 'string' && param.type !== 'string' ? convert(param, given) : given;
  const large = value === given ? undefined : findLargeInteger(String(given));
  if (large !== undefined) return fail(`contains an unsupported number: ${describeLargeInteger(large)}`);
  const fault = jsonFault(value);
  if (fault !== undefined) return fail(fault);
  if (!isOfType(value, param.type)) return fail(`is ${showJson(given)}, which is not of type ${param.type}`);
  if (param.enum !== undefined && !param.enum.some((entry) => JSON.stringify(entry) === JSON.stringify(value))) {
    return fail(`is ${showJson(value)} instead of one of ${param.enum.map((entry) => showJson(entry)).join(', ')}`);
  }
  if (Array.isArray(value) && param.columns !== undefined) {
    const missing = findRowFault(value as readonly Json[], param.columns);
    if (missing !== undefined) return fail(missing);
  }
  if (typeof value === 'number') {
    if (param.minimum !== undefined && value < param.minimum)
      return fail(`is ${value}, below its minimum of ${param.minimum}`);
    if (param.maximum !== undefined && value > param.maximum)
      return fail(`is ${value}, above its maximum of ${param.maximum}`);
  }
  if (typeof value === 'string' && param.pattern !== undefined) {
    const pattern = checkPattern(param.pattern);
    if (!pattern.ok) return fail(`has an invalid pattern: ${pattern.error}`);
    if (!pattern.value(value)) return fail(`is ${showJson(value)}, which does not match ${param.pattern}`);
  }
  return ok(value);
}

/** Converts a text from the command line to the parameter's type; returns the text itself if that fails. */
function convert(param: Param, text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    // A number too large for an integer is still converted, and rejected for its size.
    const isNumber = param.type === 'integer' && Number.isInteger(value);
    return isNumber || isOfType(value, param.type) ? value : text;
  } catch {
    return text;
  }
}
