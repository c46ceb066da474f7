import { findLines } from './read-tree.mjs';

// Put together, so that this file is not its own first finding.
const LEFTOVER = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b`);

/** What is left to do is an issue, not a comment. */
export function check({ files }) {
  return files
    .filter(({ path }) => /\.(tsx?|mjs|js|c|h)$/.test(path))
    .flatMap((file) => findLines(file, LEFTOVER, 'left over'));
}
