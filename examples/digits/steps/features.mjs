import { INK, PIXELS, WIDTH } from './digits.mjs';

const DIRECTIONS = 8;
const BLOCK = 4;
const STRIDE = 2;

/** What a model sees of an image: the plain `pixels`, or those and the directions of the `strokes` in each part of it. */
export const FEATURES = {
  pixels: (image) => image.map((value) => value / INK),
  strokes: (image) => [...FEATURES.pixels(image), ...strokeDirections(image)],
};

/** For each of nine overlapping blocks, how much ink changes in each of eight directions. */
function strokeDirections(image) {
  const at = (x, y) => (x < 0 || y < 0 || x >= WIDTH || y >= WIDTH ? 0 : image[y * WIDTH + x] / INK);
  const gradients = Array.from({ length: PIXELS }, (_, i) => {
    const [x, y] = [i % WIDTH, Math.floor(i / WIDTH)];
    return [at(x + 1, y) - at(x - 1, y), at(x, y + 1) - at(x, y - 1)];
  });
  const histogram = [];
  for (let top = 0; top + BLOCK <= WIDTH; top += STRIDE) {
    for (let left = 0; left + BLOCK <= WIDTH; left += STRIDE) {
      histogram.push(...blockHistogram(gradients, left, top));
    }
  }
  return histogram;
}

function blockHistogram(gradients, left, top) {
  const bins = new Array(DIRECTIONS).fill(0);
  for (let y = top; y < top + BLOCK; y++) {
    for (let x = left; x < left + BLOCK; x++) {
      const [dx, dy] = gradients[y * WIDTH + x];
      const turn = (Math.atan2(dy, dx) / (2 * Math.PI) + 1) % 1;
      const place = turn * DIRECTIONS;
      const bin = Math.floor(place) % DIRECTIONS;
      const length = Math.hypot(dx, dy) / BLOCK;
      bins[bin] += length * (1 - (place % 1));
      bins[(bin + 1) % DIRECTIONS] += length * (place % 1);
    }
  }
  return bins;
}
