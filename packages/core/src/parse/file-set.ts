import type { Diagnostic, SourceRange } from '../model/diagnostic.ts';
import { guardArguments, isObject, requireArgument } from '../model/guard-arguments.ts';
import type { Json } from '../model/json.ts';
import type { Pipeline } from '../model/pipeline.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { MAX_FILES } from './limits.ts';
import { readDocument } from './read-document.ts';
import type { BesideDocument } from './resolve-pipeline.ts';
import type { Path, SourceDocument, Spot } from './source-document.ts';

/** Positions of the parts that come from other files, by section and name. */
export type Origins = Map<string, (spot: Spot) => SourceRange | undefined>;

/** A pipeline made of one or more files, as one document. */
export interface Assembly extends BesideDocument {
  readonly file: string;
  readonly value: Json;
  readonly locate: (spot: Spot) => SourceRange | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Parts that could not be read; names missing in them are not reported. */
  readonly unread: readonly Path[];
}

/** A used pipeline file, checked on its own. */
export interface UsedFile {
  readonly assembly: Assembly;
  /** Undefined if it has errors. */
  readonly pipeline: Pipeline | undefined;
}

/** The files of one pipeline. Each is read once; their number is limited. */
export interface FileSet {
  /** The text of a file that is no document of a pipeline. */
  readonly read: (path: string) => Result<string, string>;
  readonly load: (path: string) => Result<SourceDocument, readonly Diagnostic[] | string>;
  /** By path: a file is checked, and its faults are reported, only once, even if it is used several times. */
  readonly used: Map<string, UsedFile>;
}

/** Without `read`, every `load` fails. */
export function createFileSet(read: ((path: string) => Result<string, string>) | undefined): FileSet {
  const loaded = new Map<string, Result<SourceDocument, readonly Diagnostic[] | string>>();
  const texts = new Map<string, Result<string, string>>();
  return {
    used: new Map(),
    read: readOnce,
    load(path) {
      const known = loaded.get(path);
      if (known !== undefined) return known;
      const result = loadOnce(path);
      loaded.set(path, result);
      return result;
    },
  };

  function loadOnce(path: string): Result<SourceDocument, readonly Diagnostic[] | string> {
    const text = readOnce(path);
    return text.ok ? readDocument(path, text.value) : text;
  }

  function readOnce(path: string): Result<string, string> {
    if (read === undefined) return fail('other files cannot be read here');
    const known = texts.get(path);
    if (known !== undefined) return known;
    if (texts.size >= MAX_FILES) return fail(`the maximum is ${MAX_FILES} files`);
    const text = callRead(read, path);
    texts.set(path, text);
    return text;
  }
}

/** Calls a program's function. What it throws is the reason why the file cannot be read. */
function callRead(read: (path: string) => Result<string, string>, path: string): Result<string, string> {
  let result: unknown;
  try {
    result = read(path);
  } catch (error) {
    return fail(error instanceof Error ? error.message : 'it could not be read');
  }
  return guardArguments('read', () => {
    requireArgument(
      isObject(result) && typeof result.ok === 'boolean',
      'read: it must return { ok, value } or { ok, error }',
    );
    const { ok: isRead, value, error } = result;
    if (isRead) requireArgument(typeof value === 'string', 'read: the value must be a string');
    return isRead ? ok(value as string) : fail(String(error));
  });
}
