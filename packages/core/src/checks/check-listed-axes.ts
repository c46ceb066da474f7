import { cellKeys } from '../axes/cell-keys.ts';
import { fixedAxes, matchAxes } from '../axes/implied-axes.ts';
import { listedAxis, listingStep, stepsOfItems } from '../axes/listed-axes.ts';
import { compileTemplate } from '../expressions/template.ts';
import { own } from '../model/own.ts';
import type { Axis, Input, Step } from '../model/pipeline.ts';
import type { JsonTemplate } from '../model/template.ts';
import type { Path } from '../parse/source-document.ts';
import type { Check, CheckContext, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import { wholeResult } from './whole-result.ts';

/** An axis whose items a step lists: which step may, and where the axis can be used. */
export const checkListedAxes: Check = (context) => {
  const axes = context.pipeline.axes ?? {};
  const listed = Object.keys(axes).filter((name) => stepsOfItems(own(axes, name)!).length > 0);
  if (listed.length === 0) return;
  for (const name of listed) checkSource(context, name, own(axes, name)!);
  for (const [name, axis] of Object.entries(axes)) checkRelations(context, { name, axis, listed });
  for (const checked of context.steps.values()) checkReader(context, { checked, listed });
};

function checkSource(context: CheckContext, name: string, axis: Axis): void {
  const raw = own(context.raw.axes, name);
  const path: Path = typeof raw === 'object' && !Array.isArray(raw) ? ['axes', name, 'items'] : ['axes', name];
  const report = (message: string, hint?: string): void =>
    context.report({
      code: 'bad-axis',
      message: `the items of axis \`${name}\` ${message}`,
      path,
      ...(hint && { hint }),
    });
  const [first, ...others] = stepsOfItems(axis);
  const source = context.steps.get(first!);
  // Another check says that it does not exist.
  if (source === undefined) return;
  const { step } = source;
  const cells = (['matrix', 'foreach', 'service'] as const).find((key) => step[key] !== undefined);
  if (others.length > 0)
    report(`come from the steps \`${[first, ...others].join('` and `')}\`, but one step has to list them`);
  else if (!readsResults(axis)) report(`can use only \`results\` of step \`${first}\``);
  else if (cells !== undefined)
    report(
      `come from step \`${first}\`, which has \`${cells}\``,
      'list them in a step with `each`, or in one without cells',
    );
  else if (step.each?.includes(name) === true)
    report(`come from step \`${first}\`, which has a cell for each of them`, 'list them in another step');
  else if (listedAxis(context.pipeline, step) !== undefined)
    report(
      `come from step \`${first}\`, which has cells for a listed axis itself`,
      'a list of lists is not supported: let one step list all pairs, for example with the key `${{ item.outer }}-${{ item.inner }}`',
    );
  else checkType(context, report, axis);
}

function readsResults({ items }: Axis): boolean {
  const compiled = compileTemplate(String(items));
  return compiled.ok && compiled.value.references.every(({ root, keys }) => root !== 'steps' || keys[1] === 'results');
}

/** A result that is the whole expression has to be a list. */
function checkType(context: CheckContext, report: (message: string) => void, { items }: Axis): void {
  const found = wholeResult(context, String(items));
  if (found === undefined || found.type === 'array') return;
  const { step, result, type } = found;
  report(`are the result \`${result}\` of step \`${step.name}\`, which has the type ${type} instead of array`);
}

function checkRelations(
  context: CheckContext,
  { name, axis, listed }: { readonly name: string; readonly axis: Axis; readonly listed: readonly string[] },
): void {
  const report = (message: string, path: Path, hint: string): void =>
    context.report({ code: 'bad-axis', message, path: ['axes', name, ...path], hint });
  if (listed.includes(name) && Object.keys(axis.of).length > 0)
    report(
      `axis \`${name}\` has \`of\`, but its items imply those of the step that lists them`,
      ['of'],
      `remove it: a field of an item is \`each.${name}.FIELD\``,
    );
  if (axis.distinct !== undefined && listed.includes(axis.distinct.axis))
    report(
      `the items of axis \`${axis.distinct.axis}\` are not known before the run, so it has no values for axis \`${name}\``,
      ['distinct'],
      'put the value into `key`: a step that reads all items finds it in the names of their directories',
    );
  for (const other of Object.keys(axis.of)) {
    if (listed.includes(other))
      report(
        `an item of axis \`${name}\` cannot imply one of \`${other}\`, whose items are not known before the run`,
        ['of', other],
        `let the step that lists \`${other}\` put the values into its items`,
      );
  }
}

function checkReader(
  context: CheckContext,
  { checked, listed }: { readonly checked: CheckedStep; readonly listed: readonly string[] },
): void {
  const { step } = checked;
  const report = (message: string, keys: Path, hint?: string): void =>
    context.report({
      ...{ code: 'bad-axis', message, path: pathInStep(context, checked, keys) },
      ...(hint !== undefined && { hint }),
    });
  const over = (step.each ?? []).filter((axis) => listed.includes(axis));
  if (over.length > 1)
    report(
      `step \`${step.name}\` has cells for each \`${over.join('` and `')}\`, but only one axis of a step can be listed by another step`,
      ['each'],
    );
  for (const template of over.length > 0 ? findEachValues(step) : [])
    report(
      `step \`${step.name}\` has \`${template}\` in a value that the plan has to know, but the cells of \`${over[0]}\` are listed during the run`,
      ['each'],
      'use `params` there',
    );
  for (const axis of over) {
    const [name] = stepsOfItems(own(context.pipeline.axes!, axis)!);
    const source = context.steps.get(name!);
    if (source?.final === true && !checked.final)
      report(
        `step \`${step.name}\` has cells for each \`${axis}\`, which step \`${name}\` of \`finally\` lists, after all other steps`,
        ['each'],
      );
    const need = step.needs.find((one) => one.step === name);
    if (need !== undefined && need.condition !== 'succeeded')
      report(
        `step \`${step.name}\` needs the success of \`${name}\`, which lists its cells`,
        ['needs'],
        `write needs: [${name}]`,
      );
  }
  for (const [input, { where = {} }] of Object.entries(step.inputs)) {
    const fault = findWhereFault(context, { step, where, listed });
    if (fault !== undefined)
      report(`input \`${input}\` of step \`${step.name}\` ${fault.message}`, ['inputs', input, 'where'], fault.hint);
  }
}

/** With an item of a list, `where` and the axes of the step fix the list; other items are known before the run. */
function findWhereFault(
  { pipeline }: CheckContext,
  {
    step,
    where,
    listed,
  }: {
    readonly step: Step;
    readonly where: NonNullable<Input['where']>;
    readonly listed: readonly string[];
  },
): { readonly message: string; readonly hint: string } | undefined {
  const over = listedAxis(pipeline, step);
  const known = Object.keys(where).filter((name) => !listed.includes(name));
  const late = known.find((name) => over !== undefined && readsItem(own(where, name)!, over));
  if (late !== undefined)
    return {
      message: `cannot choose the item of \`${late}\` by \`each.${over}\`, which is listed during the run`,
      hint: 'use `params`, or an axis whose items come from parameters or files',
    };
  const axis = Object.keys(where).find((name) => listed.includes(name));
  if (axis === undefined) return undefined;
  if (over !== undefined && over !== axis)
    return {
      message: `names an item of \`${axis}\`, but the step has cells for each \`${over}\`, whose lists are known at another time`,
      hint: `read it in a step with each: ${axis}, or in one with the axes of the step that lists \`${axis}\``,
    };
  const needed = listingStep(pipeline, axis)?.each ?? [];
  const { kept } = matchAxes(pipeline, { reader: step, source: { each: [axis] }, rules: { where } });
  const fixed = fixedAxes(pipeline, over === undefined ? [...kept, ...known] : kept);
  const missing = needed.find((name) => !fixed.has(name));
  if (missing === undefined) return undefined;
  return {
    message: `names an item of \`${axis}\`, but not of which list: there is one for each \`${missing}\``,
    hint:
      over === undefined
        ? `add ${missing} to \`where\` or to \`each\``
        : `a step with each: ${axis} reads its own list; read another one in a step without it`,
  };
}

function readsItem(template: JsonTemplate, axis: string): boolean {
  if (Array.isArray(template)) return template.some((one) => readsItem(one as JsonTemplate, axis));
  const compiled = typeof template === 'string' ? compileTemplate(template) : undefined;
  return (
    compiled?.ok === true &&
    compiled.value.references.some(({ root, keys }) => root === 'each' && (keys[0] ?? axis) === axis)
  );
}

/** The values of a step that are needed before its cells are decided, with an expression that reads their items. */
function findEachValues({ perCell = {} }: Step): readonly string[] {
  return cellKeys(perCell).flatMap(({ template, compiled, mayBeLate }) => {
    const readsEach = compiled.ok && compiled.value.references.some(({ root }) => root === 'each');
    return readsEach && !mayBeLate ? [template] : [];
  });
}
