import type { Fault } from '../checks/fault.ts';
import { suggestName } from '../checks/nearest-name.ts';
import type { Reference } from '../expressions/reference.ts';
import { type Replacement, rewriteTemplates } from '../expressions/rewrite-templates.ts';
import { type Flattened, undeclaredResult } from './flatten-pipeline.ts';
import type { RawMap } from './raw-map.ts';
import { splitEdge } from './resolve-step.ts';
import type { Path } from './source-document.ts';

/**
 * Replaces steps that use pipelines in all expressions. The results of such a step are those that the used pipeline
 * declares, a port is the only one of that name, and the status is that of the last step.
 */
export function relinkReferences(
  value: RawMap,
  used: ReadonlyMap<string, Flattened>,
): { readonly value: RawMap; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  function replace({ root, keys }: Reference, path: Path): Replacement | undefined {
    const [parent = '', aspect, name, ...rest] = keys;
    const flattened = root === 'steps' ? used.get(parent) : undefined;
    if (flattened === undefined || aspect === undefined) return undefined;
    const found = resolve(flattened, { parent, aspect, name });
    if (!('source' in found)) {
      faults.push({ ...found, path });
      // A placeholder of any type, to avoid faults that only follow from this one.
      return { source: 'dyn(0)', rest: [] };
    }
    return { source: found.source, rest: [...found.rest, ...rest] };
  }
  return { value: rewriteTemplates(value, replace) as RawMap, faults };
}

/** Of the last step of the used pipeline. */
const OF_LAST_STEP: ReadonlySet<string> = new Set(['status', 'reason', 'reused']);

interface Wanted {
  readonly parent: string;
  readonly aspect: string;
  readonly name: string | undefined;
}

function resolve(flattened: Flattened, { parent, aspect, name }: Wanted): Replacement | Omit<Fault, 'path'> {
  const the = `the pipeline that step \`${parent}\` uses`;
  if (OF_LAST_STEP.has(aspect)) return statusOf(flattened, { the, aspect });
  if (aspect === 'outputs' && name !== undefined) {
    const [source, path] = splitEdge(flattened.outputs.get(name) ?? '');
    const [step = '', output = ''] = source.split('.');
    if (path !== undefined) {
      const message = `output \`${name}\` of ${the} is a path in an output, which expressions cannot use`;
      return { code: 'unknown-name', message };
    }
    if (step !== '') return member(step, 'outputs', output);
    return {
      code: 'unknown-output',
      message: `${the} has no output \`${name}\``,
      ...suggestName(name, flattened.outputs.keys()),
    };
  }
  if ((aspect !== 'results' && aspect !== 'ports') || name === undefined) {
    return {
      code: 'unknown-name',
      message: `expressions can use results, outputs, ports, status, reason and reused of a step that uses a pipeline, each by name`,
    };
  }
  if (aspect === 'ports') return portOf(flattened, { the, name });
  const [step, result = ''] = flattened.results.get(name)?.split('.') ?? [];
  return step === undefined ? undeclaredResult(flattened, { parent, name }) : member(step, 'results', result);
}

function portOf({ ports }: Flattened, { the, name }: { the: string; name: string }): Replacement | Omit<Fault, 'path'> {
  const holders = ports.get(name) ?? [];
  const [step] = holders;
  if (step === undefined) {
    return { code: 'unknown-port', message: `${the} has no port \`${name}\``, ...suggestName(name, ports.keys()) };
  }
  if (holders.length === 1) return member(step, 'ports', name);
  const message = `${the} has more than one port \`${name}\`: of the steps ${holders.join(', ')}`;
  return { code: 'unknown-port', message, hint: `name the step: steps['${step}'].ports.${name}` };
}

function statusOf(
  { last }: Flattened,
  { the, aspect }: { the: string; aspect: string },
): Replacement | Omit<Fault, 'path'> {
  const [step] = last;
  if (step !== undefined && last.length === 1) return member(step, aspect);
  const message = `${the} has more than one last step, ${last.join(' and ')}, so it has no ${aspect} of its own`;
  return { code: 'unknown-name', message, hint: `name the step: steps['${step}'].${aspect}` };
}

function member(step: string, ...rest: readonly string[]): Replacement {
  return { source: `steps[${JSON.stringify(step)}]`, rest };
}
