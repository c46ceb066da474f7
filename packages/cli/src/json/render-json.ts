import { joinInBlocks } from '@sluice/run';
import { printableJson } from './printable-json.ts';

/**
 * One JSON document in blocks, with a line for each top-level key and each element of a list of objects. Large runs
 * stay readable line by line, and the whole text is never in memory.
 */
export function renderJson(value: object): Generator<string> {
  return joinInBlocks(renderLines(value));
}

function* renderLines(value: object): Generator<string> {
  yield* renderObject(value);
  yield '\n';
}

function* renderValue(value: unknown): Generator<string> {
  if (isList(value)) {
    let separator = '[\n';
    for (const item of value) {
      yield separator;
      yield* renderValue(item);
      separator = ',\n';
    }
    yield '\n]';
  } else if (holdsList(value)) yield* renderObject(value);
  else yield printableJson(value);
}

function* renderObject(value: object): Generator<string> {
  let separator = '{\n';
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    yield `${separator}${printableJson(key)}:`;
    yield* renderValue(item);
    separator = ',\n';
  }
  yield separator === '{\n' ? '{}' : '\n}';
}

/** Lists of objects get one line per element. */
function isList(value: unknown): value is readonly object[] {
  return Array.isArray(value) && typeof value[0] === 'object' && value[0] !== null;
}

function holdsList(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).some(isList);
}
