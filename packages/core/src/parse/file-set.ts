import type { Diagnostic, SourceRange } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import type { Pipeline } from '../model/pipeline.ts';
import { fail, type Result } from '../model/result.ts';
import { MAX_FILES } from './limits.ts';
import { readDocument } from './read-document.ts';
import type { Path, SourceDocument, Spot } from './source-document.ts';

export type RawMap = Readonly<Record<string, Json>>;

/** Where parts of a pipeline stand that come from other files, by section and name. */
export type Origins = Map<string, (spot: Spot) => SourceRange | undefined>;

/** A pipeline made of one or more files, as one document. */
export interface Assembly {
  readonly file: string;
  readonly value: Json;
  readonly locate: (spot: Spot) => SourceRange | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Parts that could not be read: what is missed in them is no fault of its own. */
  readonly unread: readonly Path[];
}

/** A pipeline file that others use, checked by itself. */
export interface UsedFile {
  readonly assembly: Assembly;
  /** Undefined where it has errors. */
  readonly pipeline: Pipeline | undefined;
}

/** The files of one pipeline: each is read once, and there is a bound to their number. */
export interface FileSet {
  readonly load: (path: string) => Result<SourceDocument, readonly Diagnostic[] | string>;
  /** By path: a file is checked, and its faults are reported, only once, even if it is used several times. */
  readonly used: Map<string, UsedFile>;
}

export function createFileSet(read: ((path: string) => Result<string, string>) | undefined): FileSet {
  const loaded = new Map<string, Result<SourceDocument, readonly Diagnostic[] | string>>();
  return {
    used: new Map(),
    load(path) {
      const known = loaded.get(path);
      if (known !== undefined) return known;
      const result = loadOnce(path);
      loaded.set(path, result);
      return result;
    },
  };

  function loadOnce(path: string): Result<SourceDocument, readonly Diagnostic[] | string> {
    if (read === undefined) return fail('other files cannot be read here');
    if (loaded.size >= MAX_FILES) return fail(`the maximum is ${MAX_FILES} files`);
    const text = read(path);
    return text.ok ? readDocument(path, text.value) : text;
  }
}

/** A path as it is written in `file`, relative to what `file` is relative to. */
export function besideFile(file: string, path: string): string {
  if (path.startsWith('/')) return path;
  const parts: string[] = [];
  const base = file.slice(0, file.lastIndexOf('/') + 1);
  for (const part of `${base}${path}`.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..' && parts.at(-1) !== '') parts.pop();
    else if (part !== '.' && (part !== '' || parts.length === 0)) parts.push(part);
  }
  return parts.join('/');
}

export function isRawMap(value: Json | undefined): value is RawMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
