import { matchAxes } from '../axes/implied-axes.ts';
import { hasExpression } from '../expressions/split-template.ts';
import { own } from '../model/own.ts';
import type { Input, StepSource } from '../model/pipeline.ts';
import type { Path } from '../parse/source-document.ts';
import type { Check, CheckContext, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import { findOutputPathFault, findPathFault, hasCells } from './find-path-fault.ts';
import { namesOf } from './names-of.ts';
import { suggestName } from './nearest-name.ts';

/** Every `from` names an existing output of a step, or an existing volume. */
export const checkEdges: Check = (context) => {
  for (const checked of context.steps.values()) {
    const { inputs } = checked.step;
    for (const name in inputs) {
      const input = inputs[name]!;
      checkSource(context, { from: input.from, input: name, reader: checked });
      for (const from of input.or ?? []) checkSource(context, { from, input: name, reader: checked });
    }
  }
  for (const [name, { from }] of Object.entries(context.pipeline.outputs)) {
    checkStepOutput(context, { from, path: () => ['outputs', name, 'from'] });
  }
};

function checkSource(
  context: CheckContext,
  { from, input, reader }: { readonly from: Input['from']; readonly input: string; readonly reader: CheckedStep },
): void {
  if (isSound(context, from, reader.final)) return;
  const path = (): Path => pathInStep(context, reader, ['inputs', input, 'from']);
  // Where a path is computed for each cell, it is checked when it is known.
  const known = reader.step.each !== undefined && hasExpression(from.path ?? '') ? { ...from, path: 'computed' } : from;
  if ('volume' in known) {
    if (!isSound(context, known, reader.final)) checkVolume(context, { from: known, path });
  } else checkStepOutput(context, { from: known, path, input, reader });
}

/** The common case, decided without allocations: there are many edges and few faults. */
function isSound({ steps, pipeline }: CheckContext, from: Input['from'], final: boolean): boolean {
  if ('volume' in from) {
    return Object.hasOwn(pipeline.volumes, from.volume) && (from.path === '' || findPathFault(from.path) === undefined);
  }
  const source = steps.get(from.step);
  if (source === undefined || (!final && source.final) || !Object.hasOwn(source.step.outputs, from.output))
    return false;
  return from.path === undefined || (!hasCells(source.step) && findPathFault(from.path) === undefined);
}

function checkVolume({ pipeline, report }: CheckContext, { from, path }: VolumeEdge): void {
  const name = from.volume;
  if (Object.hasOwn(pipeline.volumes, name)) {
    report({ code: 'bad-path', message: `the path in volume \`${name}\` ${findPathFault(from.path)}`, path: path() });
    return;
  }
  const message = `volume \`${name}\` is not declared under \`volumes\``;
  report({
    code: 'unknown-volume',
    message,
    path: path(),
    lookedIn: ['volumes'],
    ...suggestName(name, namesOf(pipeline.volumes)),
  });
}

interface VolumeEdge {
  readonly from: Extract<Input['from'], { volume: string }>;
  readonly path: () => Path;
}

interface Edge {
  readonly from: StepSource;
  /** Computed only for a fault: there are many edges and few faults. */
  readonly path: () => Path;
  readonly reader?: CheckedStep;
  readonly input?: string;
}

function checkStepOutput({ steps, pipeline, report, suggestStep }: CheckContext, edge: Edge): void {
  const { from, path, reader } = edge;
  const { step, output } = from;
  const source = steps.get(step);
  if (source === undefined) {
    if (step === 'volumes' || Object.hasOwn(pipeline.volumes, step)) {
      report({
        code: 'unknown-step',
        message: `step \`${step}\` does not exist`,
        path: path(),
        hint: `to refer to the volume, write \`volumes.${step}\``,
      });
      return;
    }
    report({
      code: 'unknown-step',
      message: `step \`${step}\` does not exist`,
      path: path(),
      lookedIn: ['steps'],
      ...suggestStep(step),
    });
    return;
  }
  if (reader !== undefined && source.final && !reader.final) {
    const message = `step \`${reader.step.name}\` cannot read from \`${step}\`: steps in \`finally\` run after all others`;
    report({ code: 'final-dependency', message, path: path() });
    return;
  }
  if (Object.hasOwn(source.step.outputs, output)) {
    const fault =
      from.path === undefined
        ? undefined
        : findOutputPathFault({ ...from, path: from.path }, source.step, {
            isDeclared: reader === undefined,
            isSingle: isOneCell(pipeline, edge, source),
          });
    if (fault !== undefined) report({ ...fault, code: 'bad-path', path: path() });
    return;
  }
  const message = `step \`${step}\` has no output \`${output}\``;
  const related = [{ message: `step \`${step}\` is defined here`, path: source.path, on: 'key' as const }];
  const lookedIn = [...source.path, 'outputs'];
  report({
    code: 'unknown-output',
    message,
    path: path(),
    lookedIn,
    ...suggestName(output, namesOf(source.step.outputs)),
    related,
  });
}

/** Whether the input means one cell of a step with `each`, which has one output. */
function isOneCell(pipeline: CheckContext['pipeline'], { reader, input }: Edge, source: CheckedStep): boolean {
  if (reader?.step.each === undefined || source.step.each === undefined) return false;
  const rules = own(reader.step.inputs, input ?? '') ?? {};
  return matchAxes(pipeline, { reader: reader.step, source: source.step, rules }).isSingle;
}
