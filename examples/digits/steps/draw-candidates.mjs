import { percent } from './digits.mjs';

const LINE = 26;
const LABEL = 182;
const BAR = 122;
const WIDTH = 372;

/** One bar per candidate, best first. The bars begin well above zero, since all candidates are good; the numbers say so. */
export function drawCandidates(candidates) {
  const worst = Math.min(...candidates.map(({ accuracy }) => accuracy));
  const from = Math.floor(worst * 20 - 0.2) / 20;
  const bars = candidates.map((candidate, i) => drawBar(candidate, { i, from }));
  const height = candidates.length * LINE + 18;
  const axis = `<text class="quiet" x="${LABEL}" y="${height - 4}">${Math.round(100 * from)} %</text><text class="quiet" x="${LABEL + BAR}" y="${height - 4}" text-anchor="end">100 %</text>`;
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Validation accuracy of the candidates">${bars.join('')}${axis}</svg>`;
}

function drawBar({ setting, features, accuracy }, { i, from }) {
  const y = i * LINE;
  const length = (BAR * (accuracy - from)) / (1 - from);
  const weight = i === 0 ? ' style="font-weight: 700"' : '';
  const label = `<text x="${LABEL - 10}" y="${y + 16}" text-anchor="end"${weight}>${setting} on ${features}</text>`;
  const bar = `<rect x="${LABEL}" y="${y + 5}" width="${length.toFixed(1)}" height="${LINE - 11}" rx="3" fill="var(--ink)" fill-opacity="${i === 0 ? 1 : 0.45}"/>`;
  return `${label}${bar}<text class="quiet" x="${WIDTH}" y="${y + 16}" text-anchor="end"${weight}>${percent(accuracy)}</text>`;
}
