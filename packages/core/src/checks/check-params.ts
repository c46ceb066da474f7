import { checkPattern } from '../expressions/cel.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import { isLongParam } from '../parse/resolve-pipeline.ts';
import { bindParam } from '../plan/bind-params.ts';
import { paramSchema } from '../schema/pipeline-schema.ts';
import type { Check, CheckContext } from './check-context.ts';
import { checkShape } from './check-shape.ts';

/** Each parameter is consistent: its default and its allowed values have its type and are within its bounds. */
export const checkParams: Check = (context) => {
  for (const [name, raw] of Object.entries(context.raw.params ?? {})) {
    const path = ['params', name];
    if (!isLongParam(raw as Json)) continue;
    const faults = checkShape(paramSchema, raw as Json, { at: path });
    faults.forEach(context.report);
    if (faults.length === 0) checkParam(context, name, path);
  }
};

function checkParam({ pipeline, report }: CheckContext, name: string, path: readonly string[]): void {
  const param = own(pipeline.params, name);
  if (param === undefined) return;
  const { enum: allowed, pattern, minimum, maximum, ...rest } = param;
  if (param.columns !== undefined && param.type !== 'array') {
    report({
      code: 'bad-param',
      message: `parameter \`${name}\` has \`columns\`, but its type is ${param.type} instead of array`,
      path: [...path, 'columns'],
    });
    return;
  }
  for (const [index, value] of (allowed ?? []).entries()) {
    const bound = bindParam({ type: rest.type, required: true }, value);
    if (!bound.ok)
      report({
        code: 'bad-param',
        message: `an allowed value of parameter \`${name}\` ${bound.error}`,
        path: [...path, 'enum', index],
      });
  }
  if (pattern !== undefined) {
    const checked = checkPattern(pattern);
    if (!checked.ok) {
      report({
        code: 'bad-param',
        message: `the pattern of parameter \`${name}\` is invalid: ${checked.error}`,
        path: [...path, 'pattern'],
      });
      return;
    }
  }
  if (minimum !== undefined && maximum !== undefined && minimum > maximum) {
    report({
      code: 'bad-param',
      message: `parameter \`${name}\` has a minimum of ${minimum}, which is greater than its maximum of ${maximum}`,
      path: [...path, 'minimum'],
    });
    return;
  }
  if (rest.default === undefined) return;
  const bound = bindParam(param, rest.default);
  if (!bound.ok)
    report({
      code: 'bad-param',
      message: `the default of parameter \`${name}\` ${bound.error}`,
      path: [...path, 'default'],
    });
}
