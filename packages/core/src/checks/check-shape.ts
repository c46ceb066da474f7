import type { z } from 'zod';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Path } from '../parse/source-document.ts';
import { PATTERN_ADVICE } from '../schema/patterns.ts';
import { schemaKeys } from '../schema/schema-keys.ts';
import { findChange, placeOf } from './changed-keys.ts';
import type { Fault } from './fault.ts';
import { FOREIGN_PIPELINE_KEYS, FOREIGN_STEP_KEYS } from './foreign-keys.ts';
import { foldName, suggestName } from './nearest-name.ts';
import { FOREIGN_TYPES, typeHint } from './type-hint.ts';

type Issue = z.core.$ZodIssue;

/**
 * Returns every deviation from the schema as a fault with path and message. `at` is the path of `value` in the file,
 * `document` what hints look for names in, if `value` is a part of it.
 */
export function checkShape(
  schema: z.ZodType,
  value: Json,
  { at = [], document = value }: { readonly at?: Path; readonly document?: Json } = {},
): readonly Fault[] {
  const parsed = schema.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) => explain(issue, { schema, root: value, document, at, path: [] }));
}

interface Place {
  readonly schema: z.ZodType;
  readonly root: Json;
  readonly document: Json;
  /** Path of `root` in the document. */
  readonly at: Path;
  /** Path of the enclosing union in `root`. */
  readonly path: Path;
}

function explain(issue: Issue, place: Place): readonly Fault[] {
  const local = [...place.path, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
  const path = [...place.at, ...local];
  const found = valueAt(place.root, local);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys
        .filter((key) => !key.startsWith('x-'))
        .map((key) => unknownKey(key, { path, known: schemaKeys(place.schema, local) }));
    case 'invalid_key':
      return issue.issues.flatMap((inner) => badKey(inner as Issue, path));
    case 'invalid_union':
      return explainUnion(issue, { ...place, path: local });
    case 'invalid_format': {
      const advice = PATTERN_ADVICE.get(issue.pattern ?? '');
      const wanted = advice?.wanted ?? 'another form';
      return [
        {
          code: advice?.code ?? 'wrong-value',
          message: `${nameOf(path)} is ${show(found)}, which is not ${wanted}`,
          path,
          ...(found !== undefined && typeHint(found, { wanted, path })),
          ...(advice?.code === 'bad-edge' && edgeHint(found, place.document)),
        },
      ];
    }
    case 'too_small':
    case 'too_big':
      return [{ code: 'out-of-range', message: `${nameOf(path)} is ${show(found)}, ${bounds(issue)}`, path }];
    case 'invalid_value': {
      const type = typeof found === 'string' ? own(FOREIGN_TYPES, found) : undefined;
      const values = issue.values.map(String);
      const isType = type !== undefined && values.includes(type);
      const hint = isType
        ? { hint: `use \`${type}\`` }
        : typeof found === 'string'
          ? valueHint(found, { path, values })
          : {};
      const wanted = issue.message.startsWith('Invalid') ? `one of ${issue.values.join(', ')}` : issue.message;
      if (found === undefined) return [missing(path, wanted)];
      return [
        { code: 'wrong-value', message: `${nameOf(path)} is ${show(found)} instead of ${wanted}`, path, ...hint },
      ];
    }
    default:
      return [wrongType(issue, { path, found })];
  }
}

function wrongType(issue: Issue, { path, found }: { path: Path; found: Json | undefined }): Fault {
  const expected = 'expected' in issue ? String(issue.expected) : '';
  const wanted = issue.message.startsWith('Invalid')
    ? (own(KINDS, expected) ?? 'another kind of value')
    : issue.message;
  if (found === undefined) return missing(path, wanted);
  if (typeof found === 'number' && !Number.isFinite(found)) {
    return {
      code: 'bad-number',
      message: `${nameOf(path)} is not a finite number`,
      path,
    };
  }
  if (typeof found === 'number' && /^a (duration|size)/.test(wanted)) {
    const message = `${nameOf(path)} is the number ${found}, which has no unit`;
    return { code: 'missing-unit', message, path, hint: `write ${wanted}` };
  }
  return {
    code: 'wrong-type',
    message: `${nameOf(path)} is ${show(found)} instead of ${wanted}`,
    path,
    ...typeHint(found, { wanted, path }),
  };
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

function missing(path: Path, wanted: string): Fault {
  const key = String(path.at(-1) ?? '');
  const parent = path.slice(0, -1);
  const message = `missing key \`${key}\` in ${nameOf(parent)}; expected ${wanted}`;
  return { code: 'missing-key', message, path: parent, on: 'key' };
}

function badKey(issue: Issue, path: Path): readonly Fault[] {
  const advice = issue.code === 'invalid_format' ? PATTERN_ADVICE.get(issue.pattern ?? '') : undefined;
  const key = String(path.at(-1));
  const message = `invalid name ${show(key)} in ${nameOf(path.slice(0, -1))}; expected ${advice?.wanted ?? 'a name'}`;
  return [{ code: 'bad-name', message, path, on: 'key', ...nameHint(key) }];
}

function nameHint(key: string): { hint?: string } {
  const fixed = key
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return fixed === '' || fixed === key ? {} : { hint: `for example \`${fixed}\`` };
}

/** Explains the branch that accepts this kind of value; if none does, lists what the union accepts. */
function explainUnion(issue: Extract<Issue, { code: 'invalid_union' }>, place: Place): readonly Fault[] {
  const path = [...place.at, ...place.path];
  const found = valueAt(place.root, place.path);
  const branches = issue.errors.filter((errors) => !errors.some((error) => error.path.length === 0 && isKind(error)));
  const [best] = branches.sort((a, b) => rank(a) - rank(b));
  if (best !== undefined && found !== undefined) return best.flatMap((inner) => explain(inner, place));
  return [wrongType({ ...issue, code: 'custom' } as Issue, { path, found })];
}

/** Unknown and missing keys come last: of two maps, the one that shares more keys was intended. */
function rank(issues: readonly Issue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
}

function isKind(issue: Issue): boolean {
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

/** For a value of another system, or one that is nearly right. */
function valueHint(found: string, { path, values }: { path: Path; values: readonly string[] }): { hint?: string } {
  return findChange(placeOf(path), found) ?? suggestName(found, values);
}

function unknownKey(key: string, { path, known }: { path: Path; known: readonly string[] }): Fault {
  const where = nameOf(path);
  const at = { path: [...path, key], on: 'key' } as const;
  const { code, ...change } = findChange(placeOf(path), key) ?? keyHint(key, { path, known });
  if (code !== undefined)
    return { code, message: `\`${key}\` of ${where} is reserved for a later version`, ...at, ...change };
  return { code: 'unknown-key', message: `unknown key \`${key}\` in ${where}`, ...at, ...change };
}

function keyHint(
  key: string,
  { path, known }: { path: Path; known: readonly string[] },
): { readonly code?: undefined; readonly hint?: string } {
  const keys = path.length === 0 ? FOREIGN_PIPELINE_KEYS : isStepPath(path) ? FOREIGN_STEP_KEYS : undefined;
  const foreign = keys && foreignKey(keys, key);
  if (foreign !== undefined) return { hint: `in Sluice: ${foreign}` };
  return suggestName(
    key,
    known.filter((name) => name !== '$schema'),
  );
}

/** Finds the key of another system, for which `max_parallel`, `max-parallel` and `maxParallel` are equal. */
function foreignKey(keys: ReadonlyMap<string, string>, key: string): string | undefined {
  const direct = keys.get(key);
  if (direct !== undefined) return direct;
  const folded = foldName(key);
  for (const [foreign, ours] of keys) if (foldName(foreign) === folded) return ours;
  return undefined;
}

function isStepPath(path: Path): boolean {
  return (
    (path.length === 2 && (path[0] === 'steps' || path[0] === 'finally')) ||
    (path.length === 1 && path[0] === 'defaults')
  );
}

/** The hint for a volume, or a step with one output, that is named without its prefix or output. */
function edgeHint(found: Json | undefined, root: Json): { hint?: string } {
  if (typeof found !== 'string') return {};
  const [name = '', ...rest] = found.split('/');
  if (valueAt(root, ['volumes', name]) !== undefined) {
    return { hint: `did you mean \`${[`volumes.${name}`, ...rest].join('/')}\`?` };
  }
  const outputs = valueAt(root, ['steps', name, 'outputs']);
  const names = Array.isArray(outputs)
    ? outputs.map(String)
    : typeof outputs === 'object'
      ? Object.keys(outputs ?? {})
      : [];
  const [output] = names;
  return output === undefined ? {} : { hint: `did you mean \`${[`${name}.${output}`, ...rest].join('/')}\`?` };
}

function bounds(issue: Extract<Issue, { code: 'too_small' | 'too_big' }>): string {
  const small = issue.code === 'too_small';
  const limit = String(small ? issue.minimum : issue.maximum);
  if (issue.origin === 'array')
    return small
      ? `but must have at least ${limit} item${limit === '1' ? '' : 's'}`
      : `but must have at most ${limit} items`;
  if (issue.origin === 'string')
    return small ? `which is shorter than ${limit} characters` : `which is longer than ${limit} characters`;
  if (small) return issue.inclusive === false ? `but must be greater than ${limit}` : `but must be at least ${limit}`;
  return `but must be at most ${limit}`;
}

/** Describes a path: `step \`fit\`` or `\`command\` of step \`fit\``. */
function nameOf(path: Path): string {
  if (path.length === 0) return 'the pipeline';
  const [top, second, ...rest] = path;
  const step = (top === 'steps' || top === 'finally') && second !== undefined;
  const base = step ? `step \`${second}\`` : undefined;
  const inner = step ? rest : path;
  const words = inner
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');
  if (base === undefined) return `\`${words}\``;
  return words === '' ? base : `\`${words}\` of ${base}`;
}

/** A value for a message, shortened if it is long. */
function show(value: Json | undefined): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'a map';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}

function valueAt(root: Json, path: Path): Json | undefined {
  let value: Json | undefined = root;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = own(value as Readonly<Record<string, Json>>, String(part));
  }
  return value;
}
