// evaluate: tests the selected model on the test part, which no other step has used.
import { join } from 'node:path';
import { accuracyOf, CLASSES, percent, readJson, readOptions, readPart, writeJson, writeResult } from './digits.mjs';
import { predict } from './model.mjs';

const { digits, best, out } = readOptions('digits', 'best', 'out');

const model = readJson(join(best, 'model.json'));
const test = readPart(digits, 'test');
const predictions = predict(model, test.images);
const accuracy = accuracyOf(predictions, test.digits);

/** `confusion[i][j]`: how many images of digit i were taken for j. */
const confusion = Array.from({ length: CLASSES }, () => new Array(CLASSES).fill(0));
const mistakes = [];
predictions.forEach((predicted, i) => {
  const digit = test.digits[i];
  confusion[digit][predicted] += 1;
  if (predicted !== digit) mistakes.push({ digit, predicted, image: test.images[i] });
});
const { setting, features } = model;
writeJson(join(out, 'evaluation.json'), {
  setting,
  features,
  accuracy,
  images: test.digits.length,
  confusion,
  mistakes,
});
writeResult('accuracy', accuracy);
console.log(
  `${setting} on ${features}: ${percent(accuracy)} of ${test.digits.length} test images, ${mistakes.length} mistakes`,
);
