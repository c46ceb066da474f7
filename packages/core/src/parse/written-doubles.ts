import { toDoubleTemplates } from '../expressions/double-templates.ts';
import { type Doubles, mergeDoubles } from '../expressions/doubles.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import { findWrittenDoubles, mayHoldDoubles, type WrittenAt } from './find-written-doubles.ts';
import { isRawMap, type RawMap } from './raw-map.ts';
import { isLongParam } from './resolve-pipeline.ts';
import type { Path, SourceDocument } from './source-document.ts';

/**
 * The document with the types of whole numbers that are written as doubles, such as `1.0`, because the values themselves
 * no longer show them: the type `number` for each parameter without a type that has such a default or allowed value,
 * `paramDoubles` for those in its lists and maps, and templates in `foreach`, `matrix` and `with`.
 */
export function withWrittenDoubles(document: SourceDocument, written: WrittenAt): SourceDocument {
  const { value, text } = document;
  if (!isRawMap(value) || !mayHoldDoubles(text)) return document;
  const params = own(value, 'params');
  const typed = isRawMap(params) ? typeParams(params, written) : undefined;
  const find = (part: Json, path: Path): Doubles | undefined => findWrittenDoubles(part, written, path);
  const sections = (['steps', 'finally'] as const).flatMap((section) => {
    const steps = own(value, section);
    return isRawMap(steps) ? [[section, mapEntries(steps, (step, name) => typeStep(step, find, [section, name]))]] : [];
  });
  const defaults = own(value, 'defaults');
  return {
    ...document,
    value: {
      // A step file is one step.
      ...(typeStep(value, find, []) as RawMap),
      ...(typed && { params: typed.params }),
      ...Object.fromEntries(sections),
      ...(defaults !== undefined && { defaults: typeStep(defaults, find, ['defaults']) }),
    },
    ...(typed && { paramDoubles: typed.doubles }),
  };
}

function mapEntries(map: RawMap, change: (value: Json, key: string) => Json): RawMap {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}

interface TypedParams {
  readonly params: RawMap;
  readonly doubles: ReadonlyMap<string, Doubles>;
}

function typeParams(params: RawMap, written: WrittenAt): TypedParams {
  const doubles = new Map<string, Doubles>();
  const typed = mapEntries(params, (param, name) => {
    const isLong = isLongParam(param);
    const preset = isLong ? own(param, 'default') : param;
    const allowed = isLong ? own(param, 'enum') : undefined;
    const found = mergeDoubles([
      findWrittenDoubles(preset ?? null, written, isLong ? ['params', name, 'default'] : ['params', name]),
      findWrittenDoubles(allowed ?? null, written, ['params', name, 'enum'])?.items,
    ]);
    if (found === undefined) return param;
    if (found.number !== true) doubles.set(name, found);
    else if (!isLong) return { type: 'number', default: param };
    else if (own(param, 'type') === undefined) return { ...param, type: 'number' };
    return param;
  });
  return { params: typed, doubles };
}

type Find = (value: Json, path: Path) => Doubles | undefined;

/** Lists and maps only: the type of any other value in `with` is that of the parameter. */
function typeStep(step: Json, find: Find, at: Path): Json {
  if (!isRawMap(step)) return step;
  const typeValue = (value: Json, path: Path): Json =>
    typeof value === 'object' ? toDoubleTemplates(value, find(value, [...at, ...path])) : value;
  const { foreach, matrix, with: given } = step;
  return {
    ...step,
    ...(foreach !== undefined && { foreach: typeValue(foreach, ['foreach']) }),
    ...(isRawMap(matrix) && { matrix: mapEntries(matrix, (value, axis) => typeValue(value, ['matrix', axis])) }),
    ...(isRawMap(given) && { with: mapEntries(given, (value, name) => typeValue(value, ['with', name])) }),
  };
}
