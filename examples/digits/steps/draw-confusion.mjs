const CELL = 34;
const MARGIN = 26;

/** The confusion matrix as SVG: right answers blue on the diagonal, mistakes red, the stronger the more there are. */
export function drawConfusion(confusion) {
  const classes = confusion.length;
  const size = MARGIN + classes * CELL;
  const most = Math.max(...confusion.flat());
  const mostWrong = Math.max(1, ...confusion.flatMap((row, digit) => row.filter((_, read) => read !== digit)));
  const cells = confusion.flatMap((row, digit) =>
    row.map((count, read) => drawCell({ digit, read, count, strength: count / (digit === read ? most : mostWrong) })),
  );
  const heads = confusion.map((_, digit) => drawHeads(digit)).join('');
  return `<svg viewBox="0 0 ${size} ${size}" role="img" aria-label="Confusion matrix of ${classes} digits">${heads}${cells.join('')}</svg>`;
}

function drawHeads(digit) {
  const middle = MARGIN + (digit + 0.5) * CELL;
  const column = `<text class="quiet" x="${middle}" y="${MARGIN - 9}" text-anchor="middle">${digit}</text>`;
  return `${column}<text class="quiet" x="${MARGIN - 13}" y="${middle + 4}" text-anchor="middle">${digit}</text>`;
}

function drawCell({ digit, read, count, strength }) {
  const [x, y] = [MARGIN + read * CELL, MARGIN + digit * CELL];
  const right = digit === read;
  const opacity = count === 0 ? 0.05 : 0.25 + 0.65 * strength;
  const fill = right || count === 0 ? 'var(--ink)' : 'var(--bad)';
  const box = `<rect x="${x + 1}" y="${y + 1}" width="${CELL - 2}" height="${CELL - 2}" rx="3" fill="${fill}" fill-opacity="${opacity.toFixed(2)}"/>`;
  const title = `<title>${count} × ${digit} read as ${read}</title>`;
  const style = opacity > 0.6 ? 'fill: var(--paper); font-weight: 600' : 'font-weight: 600';
  const text = `<text x="${x + CELL / 2}" y="${y + CELL / 2 + 4}" text-anchor="middle" style="${style}">${count}</text>`;
  return `<g>${title}${box}${count === 0 ? '' : text}</g>`;
}
