import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Step } from '../model/pipeline.ts';
import type { ResolvedContainer } from '../model/run-context.ts';

/**
 * A digest and its named components, sorted by name, so that two fingerprints can be compared component by component.
 */
export interface Fingerprint {
  /** Of all components together. */
  readonly digest: string;
  readonly components: readonly { readonly name: string; readonly value: string }[];
}

/** The facts about a cell that its container does not contain. */
export interface FingerprintOptions {
  /** Name of the pipeline. */
  readonly pipeline: string;
  /** Name of the step. */
  readonly step: string;
  /** By input: the fingerprint or content digest of what it mounts. */
  readonly inputs: Readonly<Record<string, string>>;
  /** By step: the identity of the work that came before, of steps that are in no input and no value. */
  readonly after?: Readonly<Record<string, string>>;
  readonly matrix?: Readonly<Record<string, Json>>;
  /** The `foreach` item. */
  readonly item?: Json;
  /** The name of a cell of a step with `each`. */
  readonly cell?: string;
  /** The number of earlier cells with the same values; absent for the first one. */
  readonly replicate?: number;
  /** Of a step on several nodes. */
  readonly tasks?: Step['tasks'];
  /** `cache.key`, evaluated, if the step has one: it replaces image, command and environment. */
  readonly key?: string;
  /** Digest of the image, which replaces its name. */
  readonly image?: string;
  /** Environment variables and inputs that are not part of the fingerprint. */
  readonly ignore?: readonly string[];
  /** Keep long values, so that people can compare them. */
  readonly isWhole?: boolean;
  /** Returns a hex digest of at least 128 bits. */
  readonly hash: (text: string) => string;
}

/**
 * Increased when the meaning of a component changes: cached work of earlier versions is no longer found, and `why`
 * names the version as the reason.
 */
const VERSION = '3';
/** Longer values are stored as their hash; differences are still named. */
const LONGEST = 200;

/**
 * The identity of a cell's work: equal fingerprints mean that the outputs can be reused. Instance type, resources,
 * ports and values of secrets are not part of it: they change how the work is done, not its result.
 */
export function createFingerprint(container: ResolvedContainer, options: FingerprintOptions): Fingerprint {
  const ignored = new Set(options.ignore ?? []);
  const parts = new Map<string, string>([
    ['version', VERSION],
    ['pipeline', options.pipeline],
    ['step', options.step],
  ]);
  if (options.key !== undefined) parts.set('key', options.key);
  else addProgram(parts, { ...container, ...(options.image !== undefined && { image: options.image }) }, ignored);
  for (const [axis, value] of Object.entries(options.matrix ?? {})) parts.set(`matrix.${axis}`, JSON.stringify(value));
  if (options.item !== undefined) parts.set('item', JSON.stringify(options.item));
  if (options.cell !== undefined) parts.set('cell', options.cell);
  if (options.tasks !== undefined) parts.set('tasks', `${options.tasks.nodes} x ${options.tasks.perNode}`);
  if (options.replicate !== undefined) parts.set('replicate', String(options.replicate));
  for (const [step, identity] of Object.entries(options.after ?? {})) parts.set(`after.${step}`, identity);
  for (const { name, path, writable } of container.inputs) {
    if (ignored.has(name)) continue;
    parts.set(`inputs.${name}`, own(options.inputs, name) ?? '');
    parts.set(`inputs.${name}.path`, path);
    if (writable) parts.set(`inputs.${name}.writable`, 'true');
  }
  for (const { name, path, expect } of container.outputs) {
    parts.set(`outputs.${name}.path`, path);
    if (expect) parts.set(`outputs.${name}.expect`, JSON.stringify(expect));
  }
  for (const { name, type, file } of container.results) parts.set(`results.${name}`, `${type} ${file}`);
  const components = [...parts.keys()].sort().map((name) => {
    const value = parts.get(name)!;
    return { name, value: value.length > LONGEST && !options.isWhole ? `#${options.hash(value)}` : value };
  });
  return { digest: options.hash(JSON.stringify(components.map(({ name, value }) => [name, value]))), components };
}

function addProgram(parts: Map<string, string>, container: ResolvedContainer, ignored: ReadonlySet<string>): void {
  if (container.image !== undefined) parts.set('image', container.image);
  if (container.command !== undefined) parts.set('command', JSON.stringify(container.command));
  for (const [name, value] of Object.entries(container.env)) if (!ignored.has(name)) parts.set(`env.${name}`, value);
  for (const { env, secret } of container.secrets) if (!ignored.has(env)) parts.set(`secrets.${env}`, secret);
}

/** A component with different values; long values appear as `#` and a hash. */
export interface FingerprintDifference {
  readonly name: string;
  /** Absent if the component is new. */
  readonly before?: string;
  /** Absent if the component was removed. */
  readonly after?: string;
}

/**
 * The components that differ, sorted by name; empty for equal fingerprints. If the versions differ, only the version,
 * because the other components have another meaning.
 */
export function explainDifference(before: Fingerprint, after: Fingerprint): readonly FingerprintDifference[] {
  const old = new Map(before.components.map(({ name, value }) => [name, value]));
  const fresh = new Map(after.components.map(({ name, value }) => [name, value]));
  const isComparable = old.get('version') === fresh.get('version');
  return [...new Set(isComparable ? [...old.keys(), ...fresh.keys()] : ['version'])]
    .sort()
    .filter((name) => old.get(name) !== fresh.get(name))
    .map((name) => ({
      name,
      ...(old.has(name) && { before: old.get(name)! }),
      ...(fresh.has(name) && { after: fresh.get(name)! }),
    }));
}
