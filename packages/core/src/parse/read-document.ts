import type { Doubles } from '../expressions/doubles.ts';
import type { Diagnostic, SourceRange } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { MAX_DEPTH } from '../model/json-fault.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { createPieceFinder, type FindPiece } from './create-piece-finder.ts';
import { findWrittenDoubles, mayHoldDoubles, type WrittenAt, writtenInJson } from './find-written-doubles.ts';
import { MAX_FILE_CHARACTERS } from './limits.ts';
import { createLineIndex, type LineIndex } from './line-index.ts';
import { findInJson, readJsonTree } from './locate-json.ts';
import { findInYaml, writtenInYaml } from './locate-yaml.ts';
import { parseJson } from './parse-json.ts';
import { parseYaml } from './parse-yaml.ts';
import { readPlainYaml } from './plain-yaml.ts';
import type { SourceDocument, Spot } from './source-document.ts';
import { withWrittenDoubles } from './written-doubles.ts';
import { yamlToJson } from './yaml-to-json.ts';

/**
 * Reads one YAML 1.2 or JSON document with limits for size, nesting and alias expansion. JSON is not read by the YAML
 * parser, which is fifty times as slow, and positions are computed only when `locate` is called.
 */
export function readDocument(file: string, text: string): Result<SourceDocument, readonly Diagnostic[]> {
  const read = readValues(file, text);
  return read.ok ? ok(withWrittenDoubles(read.value.document, read.value.written)) : read;
}

/** A document of which it is known everywhere which numbers are doubles. */
export interface TypedDocument extends Pick<SourceDocument, 'value' | 'locate'> {
  readonly doubles?: Doubles | undefined;
}

/** Like `readDocument`, for documents without parameters and steps. */
export function readTypedDocument({
  file,
  text,
}: {
  readonly file: string;
  readonly text: string;
}): Result<TypedDocument, readonly Diagnostic[]> {
  const read = readValues(file, text);
  if (!read.ok) return read;
  const { document, written } = read.value;
  const { value, locate } = document;
  return ok({ value, locate, doubles: mayHoldDoubles(text) ? findWrittenDoubles(value, written, []) : undefined });
}

interface ReadDocument {
  readonly document: SourceDocument;
  readonly written: WrittenAt;
}

function readValues(file: string, text: string): Result<ReadDocument, readonly Diagnostic[]> {
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  if (source.length > MAX_FILE_CHARACTERS) {
    const message = `${file} has ${source.length} characters; the maximum is ${MAX_FILE_CHARACTERS}`;
    return fail([{ code: 'too-large', severity: 'error', message }]);
  }
  if (/^\s*[{[]/.test(source)) {
    const json = parseJson(source);
    if (json.kind === 'value') return ok(jsonDocument(file, source, json.value));
    if (json.kind === 'faulty' || file.endsWith('.json')) return fail(jsonFaults(file, source));
  }
  return readYaml(file, source);
}

/** Plain files, the majority, are parsed completely only when a position is requested. */
function readYaml(file: string, text: string): Result<ReadDocument, readonly Diagnostic[]> {
  const plain = readPlainYaml(text);
  if (plain === undefined) return readWholeYaml(file, text);
  let known: ReturnType<typeof readWholeYaml> | undefined;
  const whole = (): ReadDocument | undefined => {
    known ??= readWholeYaml(file, text);
    return known.ok ? known.value : undefined;
  };
  const locate: SourceDocument['locate'] = (spot) => whole()?.document.locate(spot);
  return ok({ document: { file, text, value: plain.value, locate }, written: (path) => whole()?.written(path) });
}

function readWholeYaml(file: string, text: string): Result<ReadDocument, readonly Diagnostic[]> {
  const lines = createLineIndex(file, text);
  const { document, documents, second, faults } = parseYaml(text);
  const diagnostics: Diagnostic[] = faults.map(({ code, message, start, end }) => ({
    code,
    severity: 'error',
    message,
    range: lines.range(start, end),
  }));
  if (documents > 1) {
    const message = `${file} contains more than one document`;
    const at = Math.max(0, text.indexOf('---', Math.max(0, (second ?? 0) - 4)));
    diagnostics.push({ code: 'several-documents', severity: 'error', message, range: lines.range(at, at + 3) });
  }
  if (document === undefined || diagnostics.length > 0) return fail(diagnostics);
  const { value, targets, faults: conversion } = yamlToJson(document);
  if (conversion.length > 0) {
    return fail(
      conversion.map(({ code, message, start, end }) => {
        return { code, severity: 'error' as const, message, range: lines.range(start, end) };
      }),
    );
  }
  const find = (spot: Spot): { start: number; end: number } => findInYaml(document, targets, spot);
  const narrow = createNarrowing(text, lines);
  const locate: SourceDocument['locate'] = (spot) => narrow(find(spot), spot);
  return ok({
    document: { file, text, value, locate },
    written: (path) => writtenInYaml(document, targets, path),
  });
}

function jsonDocument(file: string, text: string, value: Json): ReadDocument {
  let known: { root: ReturnType<typeof readJsonTree>['root']; narrow: Narrow } | undefined;
  const tree = () => {
    known ??= {
      root: readJsonTree(text, MAX_DEPTH).root,
      narrow: createNarrowing(text, createLineIndex(file, text)),
    };
    return known;
  };
  const locate: SourceDocument['locate'] = (spot) => {
    const { root, narrow } = tree();
    return root && narrow(findInJson(root, spot), spot);
  };
  const written: WrittenAt = (path) => {
    const { root } = tree();
    return root && writtenInJson(text, root, path);
  };
  return { document: { file, text, value, locate }, written };
}

function jsonFaults(file: string, text: string): readonly Diagnostic[] {
  const lines = createLineIndex(file, text);
  return readJsonTree(text, MAX_DEPTH).faults.map(({ code, message, start, end, first }) => ({
    code,
    severity: 'error',
    message,
    range: lines.range(start, end),
    ...(first && { related: [{ message: 'first defined here', range: lines.range(first.start, first.end) }] }),
  }));
}

type Narrow = (found: { readonly start: number; readonly end: number }, spot: Spot) => SourceRange;

/**
 * Narrows a range to a piece of its text if the file contains it literally. Consecutive calls often concern the same
 * text.
 */
function createNarrowing(text: string, lines: LineIndex): Narrow {
  let last: { readonly start: number; readonly text: string; readonly find: FindPiece } | undefined;
  return ({ start, end }, { within }) => {
    if (within === undefined) return lines.range(start, end);
    if (last?.start !== start || last.text !== within.text) {
      last = { start, text: within.text, find: createPieceFinder(text.slice(start, end), within.text) };
    }
    const piece = last.find(within);
    return piece === undefined ? lines.range(start, end) : lines.range(start + piece.start, start + piece.end);
  };
}
