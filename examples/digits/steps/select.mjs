// select: reads the outputs of all cells of fit and their manifest, and keeps the model that is best by validation.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { percent, readJson, readOptions, writeJson, writeResult } from './digits.mjs';

const { models, out } = readOptions('models', 'out');

const { cells } = readJson(join(models, 'manifest.json'));
const candidates = cells
  .filter(({ status }) => status === 'succeeded')
  .map(({ path }) => ({ path, ...readJson(join(models, path, 'score.json')) }))
  .sort((a, b) => b.accuracy - a.accuracy || compareText(a.path, b.path));
if (candidates.length === 0) throw new Error('no cell of fit has succeeded');

const [best] = candidates;
mkdirSync(out, { recursive: true });
copyFileSync(join(models, best.path, 'model.json'), join(out, 'model.json'));
writeJson(
  join(out, 'candidates.json'),
  candidates.map(({ setting, features, accuracy }) => ({ setting, features, accuracy })),
);
writeResult('model', `${best.setting} on ${best.features}`);
for (const { setting, features, accuracy } of candidates)
  console.log(`${percent(accuracy)}  ${setting} on ${features}`);

/** By code units: the same order whatever the machine's language. */
function compareText(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
