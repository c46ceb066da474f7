import type { SourceRange } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import { isRawMap } from './raw-map.ts';
import { isLongParam } from './resolve-pipeline.ts';
import type { Path, SourceDocument } from './source-document.ts';

const WHOLE_DOUBLE = /^[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?$/;
/** Positions are computed only for a text that may contain such a number. */
const MAY_HOLD_DOUBLE = /\d\.0*(?!\d)|\d[eE][-+]?\d/;

/**
 * The document with the type `number` for each parameter without a type whose default is a whole number written as a
 * double, such as `1.0`: the value itself no longer shows it.
 */
export function withWrittenDoubles(document: SourceDocument): SourceDocument {
  const { value, text } = document;
  const params = isRawMap(value) ? own(value, 'params') : undefined;
  if (!isRawMap(params) || !MAY_HOLD_DOUBLE.test(text)) return document;
  const found: [string, Json][] = [];
  for (const [name, param] of Object.entries(params)) {
    const isLong = isLongParam(param);
    const preset = isLong ? own(param, 'default') : param;
    if (!Number.isSafeInteger(preset) || (isLong && own(param, 'type') !== undefined)) continue;
    const path: Path = isLong ? ['params', name, 'default'] : ['params', name];
    if (!isWrittenAsDouble(text, document.locate({ path }))) continue;
    found.push([name, isLong ? { ...param, type: 'number' } : { type: 'number', default: preset! }]);
  }
  if (found.length === 0) return document;
  return { ...document, value: { ...(value as object), params: { ...params, ...Object.fromEntries(found) } } };
}

function isWrittenAsDouble(text: string, range: SourceRange | undefined): boolean {
  if (range === undefined || range.line !== range.endLine) return false;
  const written = (text.split('\n', range.line)[range.line - 1] ?? '').slice(range.column - 1, range.endColumn - 1);
  return WHOLE_DOUBLE.test(written) && /[.eE]/.test(written);
}
