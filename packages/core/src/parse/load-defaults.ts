import type { Fault } from '../checks/fault.ts';
import type { Doubles } from '../expressions/doubles.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { COLUMN_TYPES, type Columns, type ColumnType } from '../tables/column-type.ts';
import { readValueFile } from '../tables/read-value-file.ts';
import { besideFile } from './beside-file.ts';
import type { Assembly, FileSet } from './file-set.ts';
import { locateFaults } from './locate-faults.ts';
import { isRawMap, type RawMap } from './raw-map.ts';
import type { Path } from './source-document.ts';

/** Parameters whose defaults in other files have been read. */
export interface LoadedDefaults {
  readonly params: Json | undefined;
  readonly doubles: ReadonlyMap<string, Doubles>;
  readonly diagnostics: readonly Diagnostic[];
  /** Of defaults that could not be read; an empty list is in their place. */
  readonly unread: readonly Path[];
}

/** Whether a parameter has a default in another file. */
export function hasFileDefaults(params: Json | undefined): boolean {
  return isRawMap(params) && Object.values(params).some((param) => findFile(param) !== undefined);
}

/** Reads the lists that parameters have as `default: { file: PATH }`, relative to the file with the parameter. */
export function loadDefaults(
  params: Json | undefined,
  { files, locate, file: main }: Pick<Assembly, 'locate' | 'file'> & { readonly files: FileSet },
): LoadedDefaults {
  const doubles = new Map<string, Doubles>();
  const diagnostics: Diagnostic[] = [];
  const unread: Path[] = [];
  const load = (name: string, param: Json): Json => {
    const path = findFile(param);
    if (path === undefined) return param;
    const at = ['params', name, 'default', 'file'];
    const skip = (...found: readonly Diagnostic[]): Json => {
      diagnostics.push(...found);
      unread.push(at.slice(0, -1));
      return { ...(param as RawMap), default: [] };
    };
    const report = (message: string): Json => {
      const fault: Fault = { code: 'unreadable-file', message, path: at };
      return skip(...locateFaults([fault], { locate }));
    };
    const file = besideFile(locate({ path: at })?.file ?? main, path);
    const text = files.read(file);
    if (!text.ok) return report(`could not read the default of parameter \`${name}\` from ${path}: ${text.error}`);
    const read = readValueFile({ file, text: text.value, columns: soundColumns((param as RawMap).columns) });
    if (!read.ok) return skip(...read.error);
    if (!Array.isArray(read.value.value))
      return report(`could not use ${path} as a default: it does not contain a list`);
    if (read.value.doubles !== undefined) doubles.set(name, read.value.doubles);
    return { ...(param as RawMap), default: read.value.value };
  };
  const loaded = isRawMap(params)
    ? Object.entries(params).map(([name, param]) => [name, load(name, param)])
    : undefined;
  return { params: loaded ? Object.fromEntries(loaded) : params, doubles, diagnostics, unread };
}

/** Only of a list: the default of a map may have a key `file`. */
function findFile(param: Json): string | undefined {
  if (!isRawMap(param)) return undefined;
  const { type, columns, default: preset } = param;
  if (type !== 'array' && (type !== undefined || columns === undefined)) return undefined;
  if (!isRawMap(preset) || Object.keys(preset).length !== 1) return undefined;
  return typeof preset.file === 'string' && preset.file !== '' ? preset.file : undefined;
}

/** The checks report the others. */
function soundColumns(columns: Json | undefined): Columns {
  const sound = Object.entries(isRawMap(columns) ? columns : {}).filter((entry): entry is [string, ColumnType] =>
    (COLUMN_TYPES as readonly Json[]).includes(entry[1]),
  );
  return Object.fromEntries(sound);
}
