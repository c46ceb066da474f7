import { own } from '@sluice/client';
import { nearestName } from '../protocol/nearest-name.ts';
import { RequestError } from '../protocol/request-error.ts';
import { shorten } from '../protocol/shorten.ts';

/** The types of query parameters in the protocol. */
export type QueryKind = 'string' | 'boolean' | 'integer';
/** The parameters of an endpoint; all of them are optional. */
export type QuerySchema = Readonly<Record<string, QueryKind>>;
type QueryValue<K extends QueryKind> = K extends 'string' ? string : K extends 'boolean' ? boolean : number;
/** Parsed parameters; an absent one is undefined. */
export type Query<S extends QuerySchema> = { readonly [K in keyof S]?: QueryValue<S[K]> };

/** Parses a query by its schema. Rejects unknown and repeated parameters; an empty one counts as absent. */
export function parseQuery<S extends QuerySchema>(schema: S, query: Readonly<Record<string, unknown>>): Query<S> {
  const parsed: Record<string, string | boolean | number> = {};
  for (const [name, value] of Object.entries(query)) {
    const kind = Object.hasOwn(schema, name) ? own(schema, name) : undefined;
    if (kind === undefined) rejectUnknown(name, Object.keys(schema));
    if (typeof value !== 'string') reject(name, 'is given more than once');
    if (value !== '') parsed[name] = parseValue(name, kind, value);
  }
  return parsed as Query<S>;
}

function parseValue(name: string, kind: QueryKind, value: string): string | boolean | number {
  if (kind === 'string') return value;
  if (kind === 'boolean') {
    if (value !== 'true' && value !== 'false') reject(name, `is '${shorten(value)}' and must be true or false`);
    return value === 'true';
  }
  if (!/^-?\d{1,15}$/.test(value)) reject(name, `is '${shorten(value)}' and must be a whole number`);
  return Number(value);
}

function rejectUnknown(name: string, known: readonly string[]): never {
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? '' : `; the nearest known parameter is '${nearest}'`;
  throw new RequestError(
    'PARAMETER_INVALID',
    `could not use the query parameter '${shorten(name)}' because it is unknown${hint}`,
    {
      details: { field: shorten(name) },
    },
  );
}

function reject(name: string, why: string): never {
  throw new RequestError('PARAMETER_INVALID', `could not use the query parameter '${name}' because it ${why}`, {
    details: { field: name },
  });
}
