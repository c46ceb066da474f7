import { guardArguments, isObject } from '../model/guard-arguments.ts';
import { SluiceError } from '../model/sluice-error.ts';
import { type CallSite, captureCallSite, describeCallSite } from './call-site.ts';

/** Where a handle comes from. */
interface HandleOrigin {
  /** The builder. */
  readonly owner: object;
  /** In words, for example `step a of pipeline x`. */
  readonly what: string;
  readonly site: CallSite;
}

/** Handles are bound by name, so the same names of two builders are equal in a document. */
const origins = new WeakMap<object, HandleOrigin>();

type Callee = (...args: never[]) => unknown;

/** The handles of one builder. */
export interface OwnHandles {
  /** Remembers where an object of handles comes from, with all handles in it. Returns the object. */
  remember<T>(handles: T, what: string, site: CallSite): T;
  /**
   * Throws `SluiceError` `FOREIGN_HANDLE` if a config contains a handle of another builder. `callee` is the method that the
   * program has called.
   */
  reject(config: unknown, what: string, callee: Callee): void;
}

/** Those of the builder of a pipeline. */
export function createOwnHandles(pipeline: string): OwnHandles {
  const owner = {};
  return {
    remember: (handles, what, site) =>
      rememberOrigin(handles, { owner, what: `${what} of pipeline ${pipeline}`, site }),
    reject: (config, what, callee) =>
      guardArguments(what, () => rejectForeign(config, { owner, what: `${what} of pipeline ${pipeline}`, callee })),
  };
}

function rememberOrigin<T>(handles: T, origin: HandleOrigin): T {
  if (!isObject(handles)) return handles;
  origins.set(handles, origin);
  for (const inner of Object.values(handles)) rememberOrigin(inner, origin);
  return handles;
}

/** A handle made from another one, such as a path in an output, comes from where that does. */
export function inheritOrigin<T extends object>(handle: T, from: object): T {
  const origin = origins.get(from);
  if (origin !== undefined) origins.set(handle, origin);
  return handle;
}

function rejectForeign(
  config: unknown,
  { owner, what, callee }: { owner: object; what: string; callee: Callee },
): void {
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (!isObject(value) || seen.has(value)) return;
    seen.add(value);
    const origin = origins.get(value);
    if (origin !== undefined && origin.owner !== owner) {
      const places = `at ${describeCallSite(captureCallSite(callee))}, defined at ${describeCallSite(origin.site)}`;
      throw new SluiceError('FOREIGN_HANDLE', `${what} uses a handle of ${origin.what}: ${places}`);
    }
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(config);
}
