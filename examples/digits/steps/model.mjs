import { FEATURES } from './features.mjs';
import { fitKnn, predictKnn } from './knn.mjs';
import { fitSoftmax, predictSoftmax } from './softmax.mjs';

const FAMILIES = {
  knn: { fit: fitKnn, predict: predictKnn },
  softmax: { fit: fitSoftmax, predict: predictSoftmax },
};

/** `setting` is a family and its one number: `knn-3` looks at three neighbors, `softmax-0.001` has that penalty. */
export function fitModel(part, { setting, features }) {
  const [family, number] = [setting.slice(0, setting.indexOf('-')), Number(setting.slice(setting.indexOf('-') + 1))];
  if (!(family in FAMILIES) || !(number >= 0))
    throw new Error(`"${setting}" is no setting such as knn-3 or softmax-0.001`);
  if (!(features in FEATURES)) throw new Error(`"${features}" is none of ${Object.keys(FEATURES).join(', ')}`);
  const rows = part.images.map(FEATURES[features]);
  return { family, setting, features, fitted: FAMILIES[family].fit({ rows, digits: part.digits }, number) };
}

/** The digit that the model sees in each image. */
export function predict(model, images) {
  return images.map((image) => FAMILIES[model.family].predict(model.fitted, FEATURES[model.features](image)));
}
