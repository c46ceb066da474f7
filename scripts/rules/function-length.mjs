import { isFunction, judgeCounts, lineAt, parseSources, walk } from '../source-rules.mjs';

const MAX_LINES = 60;
/** Longer functions from before the rule existed. A count may only fall; a package without one has none. */
const TOLERATED = { 'packages/home': 1, 'packages/runner': 1 };

/** A function that does not fit on a screen does more than one thing. */
export function check(tree) {
  const found = parseSources(tree).flatMap(({ path, area, text, program }) =>
    [...walk(program)].flatMap(({ node }) => {
      if (!isFunction(node)) return [];
      const line = lineAt(text, node.start);
      const lines = lineAt(text, node.end) - line + 1;
      if (lines <= MAX_LINES) return [];
      return [{ area, file: path, line, message: `a function of ${lines} lines, at most ${MAX_LINES}` }];
    }),
  );
  return judgeCounts('function-length', tree, { found, counts: TOLERATED });
}
