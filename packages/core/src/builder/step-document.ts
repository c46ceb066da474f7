import { isObject } from '../model/guard-arguments.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * Converts the config of a step, as `readConfig` returns it, to the form that it has in a file. `cells` holds `matrix` or
 * `foreach`. Values of other shapes than those of the types stay, so that the checks report them as in a file.
 */
export function stepDocument({ inputs, needs, each, ...rest }: Config, cells: Config): Config {
  return {
    ...rest,
    ...(each !== undefined && { each: axisNames(each) }),
    ...(inputs !== undefined && { inputs: inputsDocument(inputs) }),
    ...(needs !== undefined && { needs: needsDocument(needs) }),
    ...cells,
  };
}

function inputsDocument(inputs: unknown): unknown {
  if (!isObject(inputs) || Array.isArray(inputs)) return inputs;
  return Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, inputDocument(input)]));
}

function inputDocument(input: unknown): unknown {
  if (!isObject(input) || !('from' in input)) return sourceText(input);
  const { from, all } = input;
  return { ...input, from: sourceText(from), ...(all !== undefined && { all: axisNames(all) }) };
}

/** One edge, or a list of them. */
function sourceText(source: unknown): unknown {
  return Array.isArray(source) ? source.map(edgeText) : edgeText(source);
}

/** The names of axes for their handles. */
function axisNames(axes: unknown): unknown {
  if (Array.isArray(axes)) return axes.map(axisNames);
  return isObject(axes) && typeof axes.name === 'string' ? axes.name : axes;
}

/** The text of an edge in a file, `step.output/path` or `volumes.name/path`, for a handle. */
export function edgeText(source: unknown): unknown {
  if (!isObject(source)) return source;
  const { within, step, output, volume, path } = source;
  if (within !== undefined) return `${edgeText(within)}/${path}`;
  if (typeof step === 'string' && typeof output === 'string') return `${step}.${output}`;
  if (typeof volume === 'string') return `volumes.${volume}${path === '' ? '' : `/${path}`}`;
  return source;
}

function needsDocument(needs: unknown): unknown {
  const pairs = (Array.isArray(needs) ? needs : [needs]).map(needPair);
  const known = pairs.filter((pair) => pair !== undefined);
  if (known.length < pairs.length) return needs;
  return known.every(([, condition]) => condition === 'succeeded')
    ? known.map(([name]) => name)
    : Object.fromEntries(known);
}

function needPair(need: unknown): readonly [step: string, condition: unknown] | undefined {
  const [step, condition] = Array.isArray(need) ? need : [need, 'succeeded'];
  if (typeof step === 'string') return [step, condition];
  return isObject(step) && typeof step.name === 'string' ? [step.name, condition] : undefined;
}
