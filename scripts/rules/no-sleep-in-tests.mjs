import { findLines } from './read-tree.mjs';

/** Tests wait for what they need, never for a time; a file with "rig" in its name may hold the bounded waiting. */
export function check({ files }) {
  return files
    .filter(({ path }) => /^(packages\/[^/]+\/)?test\/.*\.ts$/.test(path) && !/rig[^/]*\.ts$/.test(path))
    .flatMap((file) =>
      findLines(
        file,
        /(^|[^.\w])setTimeout\(|timers\/promises/,
        'a test that sleeps is slow or fails by chance; wait in a rig file',
      ),
    );
}
