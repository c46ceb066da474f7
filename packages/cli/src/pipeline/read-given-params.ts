import { resolve } from 'node:path';
import {
  bindParam,
  type Diagnostic,
  fail,
  type Json,
  ok,
  own,
  type Param,
  type Pipeline,
  type Result,
  readParamsFile,
  readValueFile,
  suggestName,
  writeValue,
} from '@sluice/core';
import { MAX_PARAM_LENGTH } from '@sluice/run';
import { openPipelineFiles } from './pipeline-files.ts';

/** The value of a parameter as it is given for a run: a text, or a file that contains it. */
export type GivenParam = string | { readonly file: string };

/** Where the values of a run come from; each replaces those before it. */
export interface ParamOptions {
  /** Of an earlier run or a schedule. */
  readonly recordedParams?: Readonly<Record<string, string>>;
  /** A YAML or JSON file with a map of values. */
  readonly paramsFile?: string;
  readonly param?: Readonly<Record<string, GivenParam>>;
}

/** Why values could not be read, with the texts of their files. */
export interface RejectedParams {
  readonly diagnostics: readonly Diagnostic[];
  readonly texts: ReadonlyMap<string, string>;
}

/** Reads all files with values for a run. Returns the values as texts, as after `-p NAME=`, which a run records. */
export function readGivenParams(
  pipeline: Pipeline,
  { cwd, options }: { readonly cwd: string; readonly options: ParamOptions },
): Result<Readonly<Record<string, string>>, RejectedParams> {
  const reading: Reading = { pipeline, cwd, texts: new Map(), diagnostics: [] };
  const values = new Map(Object.entries(options.recordedParams ?? {}));
  if (options.paramsFile !== undefined) {
    for (const [name, value] of readAllFrom(options.paramsFile, reading)) values.set(name, value);
  }
  for (const [name, given] of Object.entries(options.param ?? {})) {
    // Without the parameter, its file has no meaning; planning reports that it is unknown.
    const value = typeof given === 'string' ? given : readOneFrom(given.file, { name, ...reading });
    values.set(name, value);
  }
  const { diagnostics, texts } = reading;
  return diagnostics.length === 0 ? ok(Object.fromEntries(values)) : fail({ diagnostics, texts });
}

interface Reading {
  readonly pipeline: Pipeline;
  readonly cwd: string;
  readonly texts: Map<string, string>;
  readonly diagnostics: Diagnostic[];
}

function readText(file: string, { cwd, texts }: Reading): Result<string, string> {
  const path = resolve(cwd, file);
  const text = openPipelineFiles(path, { cwd }).readMain();
  if (!text.ok) return fail(`could not read ${path}: ${text.error}`);
  texts.set(file, text.value);
  return text;
}

function readAllFrom(file: string, reading: Reading): readonly (readonly [string, string])[] {
  const { pipeline, diagnostics } = reading;
  const text = readText(file, reading);
  if (!text.ok) {
    diagnostics.push({ code: 'unreadable-file', severity: 'error', message: text.error });
    return [];
  }
  const read = readParamsFile({ file, text: text.value });
  if (!read.ok) {
    diagnostics.push(...read.error);
    return [];
  }
  const { value: map, doubles, locate } = read.value;
  return Object.entries(map).map(([name, value]) => {
    const param = own(pipeline.params, name);
    if (param === undefined) {
      const range = locate({ path: [name], on: 'key' });
      const message = `pipeline \`${pipeline.name}\` has no parameter \`${name}\``;
      const hint = suggestName(name, Object.keys(pipeline.params));
      diagnostics.push({ code: 'unknown-param', severity: 'error', message, ...(range && { range }), ...hint });
      return [name, ''];
    }
    const written = writeValue(value, own(doubles?.keys ?? {}, name));
    const fault = findFault(param, { value, written });
    if (fault !== undefined) {
      const range = locate({ path: [name] });
      const message = `parameter \`${name}\` ${fault}`;
      diagnostics.push({ code: 'bad-param', severity: 'error', message, ...(range && { range }) });
    }
    return [name, written];
  });
}

function readOneFrom(file: string, { name, ...reading }: Reading & { readonly name: string }): string {
  const { pipeline, diagnostics } = reading;
  const param = own(pipeline.params, name);
  if (param === undefined) return '';
  const text = readText(file, reading);
  if (!text.ok) {
    const message = `parameter \`${name}\`: ${text.error}`;
    const hint = `write a value that begins with @ as -p ${name}=@@…`;
    diagnostics.push({ code: 'unreadable-file', severity: 'error', message, hint });
    return '';
  }
  const read = readValueFile({ file, text: text.value, columns: param.columns });
  if (!read.ok) {
    diagnostics.push(...read.error);
    return '';
  }
  const { value, doubles } = read.value;
  const written = writeValue(value, doubles);
  const fault = findFault(param, { value, written });
  if (fault !== undefined) {
    const range = { file, line: 1, column: 1, endLine: 1, endColumn: 1 };
    diagnostics.push({ code: 'bad-param', severity: 'error', message: `parameter \`${name}\` ${fault}`, range });
  }
  return written;
}

function findFault(
  param: Param,
  { value, written }: { readonly value: Json; readonly written: string },
): string | undefined {
  const bound = bindParam(param, value);
  if (!bound.ok) return bound.error;
  if (written.length <= MAX_PARAM_LENGTH) return undefined;
  return `has ${written.length} characters; the maximum is ${MAX_PARAM_LENGTH}`;
}
