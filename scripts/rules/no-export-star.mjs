import { findLines } from './read-tree.mjs';

/** What a package offers is written down name by name. */
export function check({ files }) {
  return files
    .filter(({ path }) => /^packages\/.*\.ts$/.test(path))
    .flatMap((file) => findLines(file, /^\s*export \*/, '"export *" hides what is exported; name it'));
}
