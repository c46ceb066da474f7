// fit: trains one model with one setting, and measures it on the validation part. The pipeline runs it once per cell of the matrix.
import { join } from 'node:path';
import { accuracyOf, percent, readOptions, readPart, writeJson, writeResult } from './digits.mjs';
import { fitModel, predict } from './model.mjs';

const { digits, setting, features, out } = readOptions('digits', 'setting', 'features', 'out');

const model = fitModel(readPart(digits, 'train'), { setting, features });
const validation = readPart(digits, 'validation');
const accuracy = accuracyOf(predict(model, validation.images), validation.digits);
writeJson(join(out, 'model.json'), model);
writeJson(join(out, 'score.json'), { setting, features, accuracy });
writeResult('accuracy', accuracy);
console.log(`${setting} on ${features}: ${percent(accuracy)} of the validation part`);
