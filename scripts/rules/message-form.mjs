import { judgeCounts, lineAt, parseSources, walk } from '../source-rules.mjs';

/** Messages in another form from before the rule existed. A count may only fall; a package without one has none. */
const TOLERATED = {};
const CONTRACTION =
  /\b(can|don|doesn|isn|aren|wasn|weren|won|couldn|didn|hasn|haven|shouldn|wouldn)['’]t\b|\b(it|that|there)['’]s\b/i;

/**
 * The message of an error has no full stop, since it is often a part of a longer one, and no contraction. Commander appends
 * that of an `InvalidArgumentError` to a sentence of its own.
 */
export function check(tree) {
  const found = parseSources(tree).flatMap(({ path, area, text, program }) =>
    [...walk(program)].flatMap(({ node }) => {
      if (node.type !== 'NewExpression' || !/(?<!InvalidArgument)Error$/.test(node.callee.name ?? '')) return [];
      const fault = node.arguments
        .map(textOf)
        .map(judge)
        .find((one) => one !== undefined);
      return fault === undefined ? [] : [{ area, file: path, line: lineAt(text, node.start), message: fault }];
    }),
  );
  return judgeCounts('message-form', tree, { found, counts: TOLERATED });
}

/** The text of a literal; what a template inserts is not known. */
function textOf(node) {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  return node.type === 'TemplateLiteral' ? node.quasis.map(({ value }) => value.cooked).join('…') : '';
}

function judge(message) {
  if (/[^.]\.$/.test(message)) return 'a message ends with a full stop';
  return CONTRACTION.test(message) ? 'a message has a contraction' : undefined;
}
