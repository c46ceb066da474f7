import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { MAX_DEPTH } from '../model/json-fault.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { findInJson, scanJson } from './json-scanner.ts';
import { MAX_FILE_CHARACTERS } from './limits.ts';
import { createLineIndex } from './line-index.ts';
import { findInYaml } from './locate-yaml.ts';
import { parseJson } from './parse-json.ts';
import { parseYaml } from './parse-yaml.ts';
import { readPlainYaml } from './plain-yaml.ts';
import type { SourceDocument, Spot } from './source-document.ts';
import { yamlToJson } from './yaml-to-json.ts';

/**
 * Reads one YAML 1.2 or JSON document, bounded in size, nesting and alias expansion. JSON never pays for the YAML
 * parser, which is fifty times as slow, and places are worked out only when `locate` is called.
 */
export function readDocument(file: string, text: string): Result<SourceDocument, readonly Diagnostic[]> {
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  if (source.length > MAX_FILE_CHARACTERS) {
    const message = `${file} has ${source.length} characters, more than the ${MAX_FILE_CHARACTERS} that a pipeline file may have`;
    return fail([{ code: 'too-large', severity: 'error', message }]);
  }
  if (/^\s*[{[]/.test(source)) {
    const json = parseJson(source);
    if (json.kind === 'value') return ok(jsonDocument(file, source, json.value));
    if (json.kind === 'faulty' || file.endsWith('.json')) return fail(jsonFaults(file, source));
  }
  return readYaml(file, source);
}

/** Plain files, which most are, pay for the parser only when a place in them is asked for. */
function readYaml(file: string, text: string): Result<SourceDocument, readonly Diagnostic[]> {
  const plain = readPlainYaml(text);
  if (plain === undefined) return readWholeYaml(file, text);
  let whole: Result<SourceDocument, readonly Diagnostic[]> | undefined;
  return ok({
    file,
    text,
    value: plain.value,
    locate(spot) {
      whole ??= readWholeYaml(file, text);
      return whole.ok ? whole.value.locate(spot) : undefined;
    },
  });
}

function readWholeYaml(file: string, text: string): Result<SourceDocument, readonly Diagnostic[]> {
  const lines = createLineIndex(file, text);
  const { document, documents, second, faults } = parseYaml(text);
  const diagnostics: Diagnostic[] = faults.map(({ code, message, start, end }) => ({
    code,
    severity: 'error',
    message,
    range: lines.range(start, end),
  }));
  if (documents > 1) {
    const message = `${file} holds ${documents} documents, and a pipeline file holds one`;
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
  return ok({ file, text, value, locate: (spot) => narrow(find(spot), { spot, text, lines }) });
}

function jsonDocument(file: string, text: string, value: Json): SourceDocument {
  let known: { root: ReturnType<typeof scanJson>['root']; lines: ReturnType<typeof createLineIndex> } | undefined;
  return {
    file,
    text,
    value,
    locate(spot) {
      known ??= { root: scanJson(text, MAX_DEPTH).root, lines: createLineIndex(file, text) };
      if (known.root === undefined) return undefined;
      return narrow(findInJson(known.root, spot), { spot, text, lines: known.lines });
    },
  };
}

function jsonFaults(file: string, text: string): readonly Diagnostic[] {
  const lines = createLineIndex(file, text);
  return scanJson(text, MAX_DEPTH).faults.map(({ code, message, start, end, first }) => ({
    code,
    severity: 'error',
    message,
    range: lines.range(start, end),
    ...(first && { related: [{ message: 'it stands here first', range: lines.range(first.start, first.end) }] }),
  }));
}

/** To the piece of text that is meant, where the file has it letter by letter. */
function narrow(
  found: { start: number; end: number },
  { spot, text, lines }: { spot: Spot; text: string; lines: ReturnType<typeof createLineIndex> },
) {
  const { within } = spot;
  const at = within === undefined ? undefined : findPiece(text.slice(found.start, found.end), within);
  if (at === undefined) return lines.range(found.start, found.end);
  return lines.range(found.start + at.start, found.start + at.end);
}

/** Line by line, since a block text is indented in the file and its value is not. */
function findPiece(
  raw: string,
  { text, start, end }: NonNullable<Spot['within']>,
): { start: number; end: number } | undefined {
  let offset = 0;
  let cursor = 0;
  for (const line of text.split('\n')) {
    const at = raw.indexOf(line.trim(), cursor);
    // Escapes and folded lines are written differently from what they mean; their place is the whole text.
    if (at === -1) return undefined;
    const lead = line.length - line.trimStart().length;
    if (start <= offset + line.length) {
      const begin = at + start - offset - lead;
      return { start: begin, end: begin + Math.min(end, offset + line.length) - start };
    }
    offset += line.length + 1;
    cursor = at + line.trim().length;
  }
  return undefined;
}
