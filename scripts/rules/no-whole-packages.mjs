import { findLines } from './read-tree.mjs';

/**
 * A package that is loaded as a whole is one file of the bundle, and each command that uses one of its functions loads all of
 * it. What a command loads only on demand is a module of the command, which imports names.
 */
export function check({ files }) {
  return files
    .filter(({ path }) => /^packages\/cli\/src\/.*\.ts$/.test(path))
    .flatMap((file) =>
      findLines(file, /\bimport\('@sluice\//, 'loads a whole package; load a module that imports names of it'),
    );
}
