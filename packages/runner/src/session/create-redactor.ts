import type { Json, Plan } from '@sluice/core';

/** Removes the values of a run's secrets from everything that is stored or shown. */
export interface Redactor {
  text(text: string): string;
  bytes(bytes: Buffer): Buffer;
  /**
   * For what is shown. Changes only the fields with text of containers and services, since a secret may be any word.
   */
  data<T>(data: T): T;
  /** For what is stored and read again: as `data`, but keeps results, since other steps use them. */
  record<T>(record: T): T;
  /** Name of a secret whose value occurs in this. A result that contains one must not become part of the run. */
  findSecret(value: Json): string | undefined;
}

/** Fields of records, events and reports whose text comes from containers and services. */
const SAID: ReadonlySet<string> = new Set(['message', 'detail', 'tail', 'logTail', 'undelivered', 'notPublished']);
const SHOWN_ONLY: ReadonlySet<string> = new Set([...SAID, 'results']);
const SHOWN = '[secret]';
/** Shorter values are ignored: they would occur everywhere. */
const SHORTEST = 4;

/** The names of all secrets that a plan can pass to a container or a notification. */
export function secretNames(plan: Plan): ReadonlySet<string> {
  return new Set([...plan.pipeline.secrets, ...plan.steps.flatMap(({ step }) => step.secrets)]);
}

/** Costs nothing for a plan without secrets. Values are read each time, since they may change during a run. */
export function createRedactor(plan: Plan, secrets: (name: string) => string | undefined): Redactor {
  const names = [...secretNames(plan)];
  if (names.length === 0) {
    const same = <T>(data: T) => data;
    return { text: same, bytes: same, data: same, record: same, findSecret: () => undefined };
  }

  function known(): { readonly name: string; readonly value: string }[] {
    return names.flatMap((name) => {
      const value = secrets(name);
      return value !== undefined && value.length >= SHORTEST ? [{ name, value }] : [];
    });
  }

  /** The longest first, so that a secret which contains another is replaced as a whole. */
  function values(): string[] {
    const all = new Set(known().map(({ value }) => value));
    return [...all].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  }

  function contains(value: Json, secret: string): boolean {
    if (typeof value === 'string') return value.includes(secret);
    if (typeof value !== 'object' || value === null) return typeof value === 'number' && String(value).includes(secret);
    if (Array.isArray(value)) return value.some((item) => contains(item, secret));
    return Object.entries(value).some(([key, item]) => key.includes(secret) || contains(item, secret));
  }

  function hide(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
    let shown = text;
    for (const value of values()) shown = shown.replaceAll(Buffer.from(value).toString(encoding), SHOWN);
    return shown;
  }

  /** Directly within such a field the names are ours, for example those of results; deeper ones are not. */
  function walk(value: unknown, depth: number, fields: ReadonlySet<string>): unknown {
    if (typeof value === 'string') return depth > 0 ? hide(value) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => walk(item, depth && depth + 1, fields));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        if (depth > 0) return [depth > 1 ? hide(key) : key, walk(item, depth + 1, fields)];
        return [key, walk(item, fields.has(key) ? 1 : 0, fields)];
      }),
    );
  }

  return {
    text: (text) => hide(text),
    bytes(bytes) {
      // Latin-1 keeps every byte, so that a log in any encoding stays unchanged elsewhere.
      const text = bytes.toString('latin1');
      const shown = hide(text, 'latin1');
      return shown === text ? bytes : Buffer.from(shown, 'latin1');
    },
    data: <T>(data: T) => walk(data, 0, SHOWN_ONLY) as T,
    record: <T>(record: T) => walk(record, 0, SAID) as T,
    findSecret: (value) => known().find((secret) => contains(value, secret.value))?.name,
  };
}
