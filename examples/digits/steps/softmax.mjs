import { CLASSES } from './digits.mjs';

const EPOCHS = 150;
const RATE = 0.5;
const MOMENTUM = 0.9;

/** Softmax regression by gradient descent over the whole training part, from zero, so that nothing is random. */
export function fitSoftmax({ rows, digits }, penalty) {
  const size = rows[0].length + 1;
  const weights = Array.from({ length: CLASSES }, () => new Float64Array(size));
  const speed = Array.from({ length: CLASSES }, () => new Float64Array(size));
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    const gradient = gradientOf(weights, { rows, digits, penalty });
    for (let c = 0; c < CLASSES; c++) {
      for (let j = 0; j < size; j++) {
        speed[c][j] = MOMENTUM * speed[c][j] - RATE * gradient[c][j];
        weights[c][j] += speed[c][j];
      }
    }
  }
  return { penalty, weights: weights.map((of) => [...of]) };
}

export function predictSoftmax(model, row) {
  const scores = model.weights.map((of) => score(of, row));
  return scores.indexOf(Math.max(...scores));
}

/** The last weight is the bias, and the only one without a penalty. */
function gradientOf(weights, { rows, digits, penalty }) {
  const bias = weights[0].length - 1;
  const gradient = weights.map((of) => of.map((weight, j) => (j === bias ? 0 : penalty * weight)));
  const odds = new Float64Array(CLASSES);
  rows.forEach((row, i) => {
    for (let c = 0; c < CLASSES; c++) odds[c] = score(weights[c], row);
    const largest = Math.max(...odds);
    let total = 0;
    for (let c = 0; c < CLASSES; c++) {
      odds[c] = Math.exp(odds[c] - largest);
      total += odds[c];
    }
    for (let c = 0; c < CLASSES; c++) {
      const error = (odds[c] / total - (digits[i] === c ? 1 : 0)) / rows.length;
      const of = gradient[c];
      for (let j = 0; j < bias; j++) of[j] += error * row[j];
      of[bias] += error;
    }
  });
  return gradient;
}

function score(weights, row) {
  let sum = weights[row.length];
  for (let j = 0; j < row.length; j++) sum += weights[j] * row[j];
  return sum;
}
