import { fail, ok, own, type Result } from '@sluice/core';
import type { ConfigEdit, ConfigFields } from '@sluice/service';
import { parse } from 'yaml';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';

/** A change of a configuration, as the command line states it. */
export interface ConfigEditArguments {
  readonly type: ConfigEdit['type'];
  /** The ID of the entry, then `name=value` for each of its fields. */
  readonly words: readonly string[];
  /** For a new cluster, which needs at least one: `id,name=value,…` each. */
  readonly instanceTypes: readonly string[];
}

/** Parses the syntax only; whether the values are valid is checked with the whole file. */
export function parseConfigEdit({ type, words, instanceTypes }: ConfigEditArguments): Result<ConfigEdit, CommandError> {
  const [name = '', ...texts] = words;
  if (type === 'removeCluster') return ok({ type, clusterID: name });
  if (type === 'addCluster') return parseCluster(name, texts, instanceTypes);
  const [clusterID, id, ...more] = name.split('/');
  if (!clusterID || !id || more.length > 0) return rejectArgument(name, 'CLUSTER/ID');
  switch (type) {
    case 'addAccount':
    case 'removeAccount':
      return ok({ type, clusterID, accountID: id });
    case 'removeInstanceType':
      return ok({ type, clusterID, typeId: id });
    case 'addInstanceType': {
      const fields = parseFields(id, texts);
      return fields.ok ? ok({ type, clusterID, fields: fields.value }) : fields;
    }
  }
}

function parseCluster(
  id: string,
  texts: readonly string[],
  types: readonly string[],
): Result<ConfigEdit, CommandError> {
  const fields = parseFields(id, texts);
  if (!fields.ok) return fields;
  const instanceTypes: ConfigFields[] = [];
  for (const type of types) {
    const [typeId = '', ...more] = type.split(',');
    const parsed = parseFields(typeId, more);
    if (!parsed.ok) return parsed;
    instanceTypes.push(parsed.value);
  }
  return ok({ type: 'addCluster', fields: { ...fields.value, instanceTypes } });
}

/** Parses `name=value` pairs. A dot in a name addresses a nested map: `options.partition=long`. */
function parseFields(id: string, texts: readonly string[]): Result<ConfigFields, CommandError> {
  const fields: Record<string, unknown> = { id };
  for (const text of texts) {
    const equals = text.indexOf('=');
    const names = text.slice(0, Math.max(0, equals)).split('.');
    if (names.includes('') || names.includes('__proto__')) return rejectArgument(text, 'name=value');
    let at = fields;
    for (const name of names.slice(0, -1)) {
      const inner = (own(at, name) as Record<string, unknown> | undefined) ?? {};
      at[name] = inner;
      at = inner;
    }
    at[names.at(-1)!] = scalarOf(text.slice(equals + 1));
  }
  return ok(fields);
}

/** The YAML value of a scalar, else the text itself. */
function scalarOf(text: string): unknown {
  const value: unknown = /^[[{*&!|>]/.test(text) ? text : parse(text);
  return typeof value === 'object' ? text : value;
}

function rejectArgument(text: string, form: string): Result<never, CommandError> {
  return fail({ exitCode: EXIT_CODE.rejected, message: `could not understand ${text}: it must have the form ${form}` });
}
