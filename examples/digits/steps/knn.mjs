import { CLASSES } from './digits.mjs';

/** k nearest neighbors: the training images are the model. */
export function fitKnn({ rows, digits }, neighbors) {
  return { neighbors, rows, digits };
}

/** The class with most votes among the nearest rows; a vote counts the more the nearer it is. */
export function predictKnn(model, row) {
  const nearest = model.rows
    .map((other, i) => ({ distance: squaredDistance(row, other), digit: model.digits[i], i }))
    .sort((a, b) => a.distance - b.distance || a.i - b.i)
    .slice(0, model.neighbors);
  const votes = new Array(CLASSES).fill(0);
  for (const { distance, digit } of nearest) votes[digit] += 1 / (distance + 1e-9);
  return votes.indexOf(Math.max(...votes));
}

function squaredDistance(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) ** 2;
  return sum;
}
