import type { Json } from '../model/json.ts';
import type { Step } from '../model/pipeline.ts';
import type { Template } from '../model/template.ts';
import { hasExpression } from './split-template.ts';

/** Visits every text of a step that may contain an expression, in a fixed order. */
export function eachTemplate(step: Step, visit: (template: Template) => void): void {
  const one = (text: string | undefined): void => {
    if (text !== undefined && hasExpression(text)) visit(text);
  };
  one(step.image);
  step.command?.forEach(one);
  for (const name in step.env) one(step.env[name]);
  one(step.when);
  if (step.matrix !== undefined) eachText(step.matrix as unknown as Json, one);
  if (step.foreach !== undefined) eachText(step.foreach as Json, one);
  one(step.foreachKey);
  for (const name in step.inputs) {
    const { from, or = [], where } = step.inputs[name]!;
    for (const { path } of [from, ...or]) one(path);
    if (where !== undefined) eachText(where, one);
  }
  one(step.instanceType);
  if (step.perCell !== undefined) eachText(step.perCell as unknown as Json, one);
  one(step.cache?.key);
  one(step.approval?.message);
  const ready = step.service?.ready;
  if (ready !== undefined && 'command' in ready) ready.command.forEach(one);
}

/** Visits every text in a JSON value. */
function eachText(value: Json, visit: (text: string) => void): void {
  if (typeof value === 'string') visit(value);
  else if (Array.isArray(value)) for (const item of value) eachText(item, visit);
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) eachText(item, visit);
}
