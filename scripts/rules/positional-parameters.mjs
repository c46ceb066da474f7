import { isFunction, judgeCounts, lineAt, parseSources, walk } from '../source-rules.mjs';

const MAX_PARAMETERS = 3;
/** Functions with more from before the rule existed. A count may only fall; a package without one has none. */
const TOLERATED = {};

/** A caller cannot tell what the fourth of several arguments means; an object names it. */
export function check(tree) {
  const found = parseSources(tree).flatMap(({ path, area, text, program }) =>
    [...walk(program)].flatMap(({ node, parent }) => {
      // The parameters of a callback are its caller's choice.
      if (!isFunction(node) || parent?.type === 'CallExpression' || parent?.type === 'NewExpression') return [];
      const count = node.params.filter((one) => one.name !== 'this').length;
      if (count <= MAX_PARAMETERS) return [];
      const message = `${count} positional parameters, at most ${MAX_PARAMETERS}; use an object`;
      return [{ area, file: path, line: lineAt(text, node.start), message }];
    }),
  );
  return judgeCounts('positional-parameters', tree, { found, counts: TOLERATED });
}
