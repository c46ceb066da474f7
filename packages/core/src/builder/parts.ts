import { SluiceError } from '../model/sluice-error.ts';
import { type CallSite, captureCallSite, describeCallSite } from './call-site.ts';

type Kind = 'axes' | 'steps' | 'finally' | 'outputs' | 'results';

const NOUNS = { axes: 'axis', steps: 'step', finally: 'step', outputs: 'output', results: 'result' } as const;
type Noun = (typeof NOUNS)[Kind];

/** What the methods of a builder have added. */
export interface Parts {
  /**
   * Throws `SluiceError` `DUPLICATE_AXIS`, `DUPLICATE_STEP`, `DUPLICATE_OUTPUT` or `DUPLICATE_RESULT`; `callee` is the method that the
   * program has called. Returns where it was called.
   */
  add(part: { kind: Kind; name: string; document: unknown; callee: (...args: never[]) => unknown }): CallSite;
  /** The keys of the file that hold the parts. */
  toDocument(): Readonly<Record<string, unknown>>;
}

/** An empty collection. Steps and final steps share their names. */
export function createParts(): Parts {
  const parts = {
    axes: new Map<string, unknown>(),
    steps: new Map(),
    finally: new Map(),
    outputs: new Map(),
    results: new Map(),
  };
  const sites = new Map<string, CallSite>();
  return {
    add({ kind, name, document, callee }) {
      const noun = NOUNS[kind];
      const site = captureCallSite(callee);
      const first = sites.get(`${noun} ${name}`);
      if (first !== undefined) throw duplicateError(noun, name, { site, first });
      sites.set(`${noun} ${name}`, site);
      parts[kind].set(name, document);
      return site;
    },
    toDocument: () => ({
      ...(parts.axes.size > 0 && { axes: Object.fromEntries(parts.axes) }),
      steps: Object.fromEntries(parts.steps),
      ...(parts.finally.size > 0 && { finally: Object.fromEntries(parts.finally) }),
      ...(parts.outputs.size > 0 && { outputs: Object.fromEntries(parts.outputs) }),
      ...(parts.results.size > 0 && { results: Object.fromEntries(parts.results) }),
    }),
  };
}

function duplicateError(noun: Noun, name: string, { site, first }: { site: CallSite; first: CallSite }): SluiceError {
  const places = `at ${describeCallSite(site)}, first at ${describeCallSite(first)}`;
  return new SluiceError(`DUPLICATE_${noun.toUpperCase()}`, `the ${noun} \`${name}\` is defined twice: ${places}`);
}
