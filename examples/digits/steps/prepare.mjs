// prepare: reads the data set, checks it, and splits it 60/20/20 with a fixed seed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { CLASSES, INK, PIXELS, readOptions, writeJson } from './digits.mjs';
import { createRandom, shuffle } from './random.mjs';

const { raw, seed, out } = readOptions('raw', 'seed', 'out');

const rows = gunzipSync(readFileSync(join(raw, 'digits.csv.gz')))
  .toString('latin1')
  .trim()
  .split('\n')
  .map(parseRow);
const shuffled = shuffle(rows, createRandom(Number(seed)));
const [first, second] = [Math.round(0.6 * rows.length), Math.round(0.8 * rows.length)];
const parts = {
  train: shuffled.slice(0, first),
  validation: shuffled.slice(first, second),
  test: shuffled.slice(second),
};
for (const [name, part] of Object.entries(parts)) {
  writeJson(join(out, `${name}.json`), { images: part.map((row) => row.image), digits: part.map((row) => row.digit) });
  console.log(`${name}: ${part.length} images`);
}

function parseRow(line, i) {
  const numbers = line.split(',').map(Number);
  const [image, digit] = [numbers.slice(0, PIXELS), numbers[PIXELS]];
  const good = numbers.length === PIXELS + 1 && image.every((value) => value >= 0 && value <= INK) && digit < CLASSES;
  if (!good) throw new Error(`line ${i + 1} is not ${PIXELS} pixels from 0 to ${INK} and a digit: ${line}`);
  return { image, digit };
}
