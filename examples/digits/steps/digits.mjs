// What the steps share: the format of the data set, and the files that pass it from step to step.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

export const WIDTH = 8;
export const PIXELS = WIDTH * WIDTH;
export const CLASSES = 10;
/** The largest value of a pixel. */
export const INK = 16;

/** A part of the data set: `images[i]` has 64 numbers from 0 to 16, `digits[i]` is the digit it shows. */
export function readPart(directory, name) {
  return readJson(join(directory, `${name}.json`));
}

export function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

export function writeJson(path, value) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value)}\n`);
}

/** Hands a small value back to the runner, which reads it from this directory under the name of the step's result. */
export function writeResult(name, value) {
  const directory = process.env.RESULTS ?? '/sluice/results';
  writeFileSync(join(directory, name), `${value}\n`);
}

/** Command-line options, all of them required. */
export function readOptions(...names) {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  const { values } = parseArgs({ options });
  const missing = names.filter((name) => values[name] === undefined);
  if (missing.length > 0) throw new Error(`missing option --${missing.join(', --')}`);
  return values;
}

/** Share of the images whose prediction is right. */
export function accuracyOf(predictions, digits) {
  return predictions.filter((prediction, i) => prediction === digits[i]).length / digits.length;
}

export function percent(share) {
  return `${(100 * share).toFixed(2)} %`;
}
