// report: writes one self-contained HTML page: the score, the confusion matrix, the candidates and every mistake.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { percent, readJson, readOptions } from './digits.mjs';
import { drawCandidates } from './draw-candidates.mjs';
import { drawConfusion } from './draw-confusion.mjs';
import { drawMistake } from './draw-mistake.mjs';

const { evaluation, best, out } = readOptions('evaluation', 'best', 'out');

const { setting, features, accuracy, images, confusion, mistakes } = readJson(join(evaluation, 'evaluation.json'));
const candidates = readJson(join(best, 'candidates.json'));

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Handwritten digits: ${setting} on ${features}</title>
<style>
  :root { --paper: #fbfaf8; --text: #23262b; --quiet: #6d727b; --line: #dcdad4; --ink: #1f5f8b; --bad: #b4432e; color-scheme: light dark; }
  @media (prefers-color-scheme: dark) {
    :root { --paper: #17191c; --text: #e6e4df; --quiet: #989da6; --line: #34383d; --ink: #6db3e3; --bad: #ee8a70; }
  }
  body { margin: 0 auto; max-width: 60rem; padding: 3rem 1.5rem 4rem; background: var(--paper); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
  h1 { font-size: 1.25rem; font-weight: 600; margin: 0; }
  h2 { font-size: 1rem; font-weight: 600; margin: 0 0 .25rem; }
  p { margin: 0 0 1rem; color: var(--quiet); max-width: 40rem; }
  .score { font-size: 4rem; line-height: 1.1; font-weight: 650; letter-spacing: -.02em; margin: .5rem 0 .25rem; }
  .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 2.5rem 3rem; margin: 2.5rem 0; }
  svg { display: block; width: 100%; height: auto; }
  svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
  svg .quiet { fill: var(--quiet); }
  .mistakes { display: flex; flex-wrap: wrap; gap: 1rem; margin: 0; padding: 0; list-style: none; }
  .mistakes li { width: 6rem; font-size: .8rem; color: var(--quiet); text-align: center; }
  .mistakes svg { margin-bottom: .35rem; }
  .mistakes b { color: var(--text); } .mistakes i { color: var(--bad); font-style: normal; font-weight: 700; }
</style>
<h1>Handwritten digits</h1>
<div class="score">${percent(accuracy)}</div>
<p>of ${images} test images are read rightly by <b>${setting}</b> on <b>${features}</b>, the best of ${candidates.length} candidates by
validation. Neither the training nor the choice has seen the test images.</p>
<div class="columns">
  <section>
    <h2>Confusion matrix</h2>
    <p>Rows are the digits written, columns the digits read.</p>
    ${drawConfusion(confusion)}
  </section>
  <section>
    <h2>Candidates</h2>
    <p>Accuracy on the validation part.</p>
    ${drawCandidates(candidates)}
  </section>
</div>
<h2>All ${mistakes.length} mistakes</h2>
<p>The images as the model saw them.</p>
<ul class="mistakes">
${mistakes.map((mistake) => `  <li>${drawMistake(mistake)}<b>${mistake.digit}</b> read as <i>${mistake.predicted}</i></li>`).join('\n')}
</ul>
</html>
`;
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'report.html'), page);
console.log(`report.html: ${page.length} characters`);
