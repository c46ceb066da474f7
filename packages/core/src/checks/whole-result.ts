import { matchAxes } from '../axes/implied-axes.ts';
import { compileTemplate } from '../expressions/template.ts';
import type { JsonType } from '../model/json-type.ts';
import { own } from '../model/own.ts';
import { isFannedOutStep, type Step } from '../model/pipeline.ts';
import type { CheckContext } from './check-context.ts';

/** A result of a step that is all of a template. */
export interface WholeResult {
  readonly step: Step;
  readonly result: string;
  readonly type: JsonType;
}

/** The result that a template consists of; undefined for any other expression. */
export function wholeResult({ steps }: CheckContext, template: string): WholeResult | undefined {
  const compiled = compileTemplate(template);
  const whole = compiled.ok ? compiled.value.whole : undefined;
  const [reference] = whole?.references ?? [];
  if (whole === undefined || reference === undefined || reference.keys.length !== 3) return undefined;
  const isAll = reference.end - reference.start === whole.source.trim().length;
  const [name = '', , result = ''] = reference.keys;
  const step = reference.root === 'steps' && isAll ? steps.get(name)?.step : undefined;
  const type = step && own(step.results, result)?.type;
  return step && type && { step, result, type };
}

/** Why a template that consists of a result cannot be a number; undefined if it can. */
export function findNumberFault(context: CheckContext, reader: Step, template: string): string | undefined {
  const found = wholeResult(context, template);
  if (found === undefined) return undefined;
  const { step, result, type } = found;
  const isSingle =
    reader.each !== undefined && step.each !== undefined
      ? matchAxes(context.pipeline, { reader, source: step }).isSingle
      : !isFannedOutStep(step);
  if (!isSingle) return `the result \`${result}\` of step \`${step.name}\` is a list of the values of its cells`;
  if (type === 'integer' || type === 'number') return undefined;
  return `the result \`${result}\` of step \`${step.name}\` has the type ${type}`;
}
