import { checkShape } from '../checks/check-shape.ts';
import type { Fault } from '../checks/fault.ts';
import type { Doubles } from '../expressions/doubles.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import { pipelineSchema } from '../schema/pipeline-schema.ts';
import { besideFile } from './beside-file.ts';
import type { FileSet, Origins } from './file-set.ts';
import { locateFaults } from './locate-faults.ts';
import { isRawMap, type RawMap } from './raw-map.ts';
import type { SourceDocument } from './source-document.ts';

/** Sections of an included file that are merged name by name. */
const SECTIONS = ['params', 'env', 'volumes', 'pools', 'steps', 'finally', 'outputs'] as const;

const BROUGHT = `${SECTIONS.map((name) => `\`${name}\``).join(', ')} and \`secrets\``;

/** The merged document; faults are reported as diagnostics of the file in which they are. */
export interface Included {
  readonly value: RawMap;
  readonly origins: Origins;
  readonly paramDoubles: ReadonlyMap<string, Doubles>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Merges everything from the files under `include`, and from those that they include. */
export function includeFiles(root: SourceDocument & { readonly value: RawMap }, files: FileSet): Included {
  const value: Record<string, Json> = { ...(root.value as Readonly<Record<string, Json>>) };
  delete value.include;
  const origins: Origins = new Map();
  const diagnostics: Diagnostic[] = [];
  const paramDoubles = new Map(root.paramDoubles);
  const seen = new Set([root.file]);
  const visit = (document: SourceDocument & { readonly value: RawMap }): void => {
    const { include = [] } = document.value;
    diagnostics.push(...locateFaults(checkShape(pipelineSchema.shape.include, include, { at: ['include'] }), document));
    for (const [index, path] of (Array.isArray(include) ? include : [include]).entries()) {
      if (typeof path !== 'string') continue;
      const at = typeof include === 'string' ? ['include'] : ['include', index];
      const file = besideFile(document.file, path);
      if (seen.has(file)) continue;
      seen.add(file);
      const loaded = files.load(file);
      if (!loaded.ok) {
        if (typeof loaded.error !== 'string') diagnostics.push(...loaded.error);
        else {
          const message = `could not include ${path}: ${loaded.error}`;
          diagnostics.push(...locateFaults([{ code: 'unreadable-file', message, path: at }], document));
        }
      } else if (isRawMap(loaded.value.value)) {
        const included = { ...loaded.value, value: loaded.value.value };
        diagnostics.push(...locateFaults(merge(value, included, origins), included));
        for (const [name, doubles] of included.paramDoubles ?? []) paramDoubles.set(name, doubles);
        visit(included);
      } else {
        const kind = describeKind(loaded.value.value);
        const message = `could not include ${path}: it is ${kind}, but an included file must be a map`;
        const hint = `it can define ${BROUGHT}`;
        diagnostics.push(...locateFaults([{ code: 'wrong-type', message, path: at, hint }], document));
      }
    }
  };
  visit(root);
  return { value, origins, paramDoubles, diagnostics };
}

function merge(
  value: Record<string, Json>,
  document: SourceDocument & { readonly value: RawMap },
  origins: Origins,
): Fault[] {
  const faults: Fault[] = [];
  for (const key of Object.keys(document.value)) {
    const part = document.value[key] ?? null;
    if (
      key === 'version' ||
      key === 'name' ||
      key === 'description' ||
      key === '$schema' ||
      key === 'include' ||
      key.startsWith('x-')
    )
      continue;
    if (key === 'secrets' && Array.isArray(part)) {
      value.secrets = [...new Set([...(Array.isArray(value.secrets) ? value.secrets : []), ...part])];
    } else if ((SECTIONS as readonly string[]).includes(key) && !isRawMap(part)) {
      const message = `\`${key}\` of an included file is ${describeKind(part)} instead of a map`;
      faults.push({ code: 'wrong-type', message, path: [key] });
    } else if (!isRawMap(part) || !(SECTIONS as readonly string[]).includes(key)) {
      const message = `an included file cannot define \`${key}\``;
      faults.push({
        code: 'bad-include',
        message,
        path: [key],
        on: 'key',
        hint: `it can define ${BROUGHT}`,
      });
    } else {
      const present = isRawMap(own(value, key)) ? (own(value, key) as RawMap) : {};
      for (const name of Object.keys(part)) {
        if (Object.hasOwn(present, name))
          faults.push({
            code: 'duplicate-key',
            message: `\`${key}.${name}\` is already defined`,
            path: [key, name],
            on: 'key',
          });
        else origins.set(`${key}\0${name}`, document.locate);
      }
      value[key] = { ...part, ...present };
    }
  }
  return faults;
}

function describeKind(value: Json): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'a string' : `the value ${JSON.stringify(value)}`;
}
