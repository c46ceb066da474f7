import type { Json, Plan } from '@sluice/core';

/** Removes the values of a run's secrets from everything that is stored or shown. */
export interface Redactor {
  /**
   * Also removes values as messages of services contain them: escaped as JSON or for a URL, on one line, and cut before `…`.
   * Text must be complete here: what this process escapes or cuts first can contain a part of a secret.
   */
  text(text: string): string;
  bytes(bytes: Buffer): Buffer;
  /** The last bytes of a log, at most `most`. If it is longer, a secret that begins before them is not shown in part. */
  tail(log: Buffer, most: number): Buffer;
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
/** At the end of text of a service that this program has cut. */
const CUT = '…';
/** Shorter values are ignored: they would occur everywhere. */
const SHORTEST = 4;

/** The names of all secrets that a plan can pass to a container or a notification. */
export function secretNames(plan: Plan): ReadonlySet<string> {
  return new Set([...plan.pipeline.secrets, ...plan.steps.flatMap(({ step }) => step.secrets)]);
}

/** A value, and as messages contain it: in JSON, in a URL, and with all space as single blanks. */
function listForms(value: string): string[] {
  const encoded = encodeURIComponent(Buffer.from(value).toString());
  const line = value.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return [value, JSON.stringify(value).slice(1, -1), encoded, line].filter(({ length }) => length >= SHORTEST);
}

/** Hides the beginnings of values that were cut: they end before `…`. */
function hideCut(text: string, values: readonly string[]): string {
  if (!text.includes(CUT)) return text;
  const parts = text.split(CUT);
  const last = parts.pop();
  return [...parts.map((part) => hideEnd(part, values)), last].join(CUT);
}

function hideEnd(text: string, values: readonly string[]): string {
  const lengths = values.map((value) => {
    let length = Math.min(value.length - 1, text.length);
    while (length >= SHORTEST && !text.endsWith(value.slice(0, length))) length--;
    return length;
  });
  const longest = Math.max(0, ...lengths);
  return longest < SHORTEST ? text : `${text.slice(0, -longest)}${SHOWN}`;
}

function lastBytes(bytes: Buffer, most: number): Buffer {
  return bytes.length <= most ? bytes : bytes.subarray(-most);
}

function contains(value: Json, secret: string): boolean {
  if (typeof value === 'string') return value.includes(secret);
  if (typeof value !== 'object' || value === null) return typeof value === 'number' && String(value).includes(secret);
  if (Array.isArray(value)) return value.some((item) => contains(item, secret));
  return Object.entries(value).some(([key, item]) => key.includes(secret) || contains(item, secret));
}

/** Hides text in the fields. Directly within such a field the names are ours, such as those of results; deeper ones are not. */
function hideFields(data: unknown, fields: ReadonlySet<string>, hide: (text: string) => string): unknown {
  function walk(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return depth > 0 ? hide(value) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => walk(item, depth && depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        if (depth > 0) return [depth > 1 ? hide(key) : key, walk(item, depth + 1)];
        return [key, walk(item, fields.has(key) ? 1 : 0)];
      }),
    );
  }
  return walk(data, 0);
}

/** Costs nothing for a plan without secrets. Values are read each time, since they may change during a run. */
export function createRedactor(plan: Plan, secrets: (name: string) => string | undefined): Redactor {
  const names = [...secretNames(plan)];
  if (names.length === 0) {
    const same = <T>(data: T) => data;
    return { text: same, bytes: same, tail: lastBytes, data: same, record: same, findSecret: () => undefined };
  }

  function known(): { readonly name: string; readonly value: string }[] {
    return names.flatMap((name) => {
      const value = secrets(name);
      return value !== undefined && value.length >= SHORTEST ? [{ name, value }] : [];
    });
  }

  /** The longest first, so that a secret which contains another is replaced as a whole. */
  function values(): string[] {
    const all = new Set(known().flatMap(({ value }) => listForms(value)));
    return [...all].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  }

  function hide(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
    let shown = text;
    const all = values();
    for (const value of all) shown = shown.replaceAll(Buffer.from(value).toString(encoding), SHOWN);
    return encoding === 'utf8' ? hideCut(shown, all) : shown;
  }

  function hideBytes(bytes: Buffer): Buffer {
    // Latin-1 keeps every byte, so that a log in any encoding stays unchanged elsewhere.
    const text = bytes.toString('latin1');
    const shown = hide(text, 'latin1');
    return shown === text ? bytes : Buffer.from(shown, 'latin1');
  }

  return {
    text: (text) => hide(text),
    bytes: hideBytes,
    tail(log, most) {
      if (log.length <= most) return hideBytes(log);
      const longest = Math.max(0, ...values().map((value) => Buffer.byteLength(value)));
      // A part of a secret at the beginning is shorter than a secret, and is removed with the bytes before the tail.
      const shown = hideBytes(log.subarray(-(most + longest)));
      return lastBytes(shown.subarray(Math.min(longest, shown.length)), most);
    },
    data: <T>(data: T) => hideFields(data, SHOWN_ONLY, hide) as T,
    record: <T>(record: T) => hideFields(record, SAID, hide) as T,
    findSecret: (value) => known().find((secret) => contains(value, secret.value))?.name,
  };
}
