import { findLines } from './read-tree.mjs';

/** Tests wait for what they need, never for a time; a rig may hold the bounded waiting, a clock the timers. */
export function check({ files }) {
  return files
    .filter(({ path }) => /^(packages\/[^/]+\/)?test\/.*\.ts$/.test(path) && !/(rig|clock)[^/]*\.ts$/.test(path))
    .flatMap((file) =>
      findLines(
        file,
        /(^|[^.\w])setTimeout\(|timers\/promises/,
        'a test that sleeps is slow or fails by chance; wait in a rig file',
      ),
    );
}
