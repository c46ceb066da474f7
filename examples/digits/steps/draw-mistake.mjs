import { INK, WIDTH } from './digits.mjs';

/** One image as SVG, a square per pixel. */
export function drawMistake({ digit, predicted, image }) {
  const pixels = image.map((value, i) => {
    const place = `x="${i % WIDTH}" y="${Math.floor(i / WIDTH)}" width="1.02" height="1.02"`;
    return value === 0 ? '' : `<rect ${place} fill="var(--text)" fill-opacity="${(value / INK).toFixed(2)}"/>`;
  });
  const frame = `<rect width="${WIDTH}" height="${WIDTH}" fill="var(--line)" fill-opacity="0.35"/>`;
  return `<svg viewBox="0 0 ${WIDTH} ${WIDTH}" role="img" aria-label="a ${digit} read as ${predicted}">${frame}${pixels.join('')}</svg>`;
}
