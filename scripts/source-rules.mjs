// What the rules that look at the syntax of the packages' sources share.
import { parseAst } from 'rolldown/parseAst';

const trees = new WeakMap();

/** The TypeScript sources of the packages, each with its package and its syntax tree (ESTree), parsed once for all rules. */
export function parseSources({ files }) {
  return files.flatMap((file) => {
    const [, area] = /^(packages\/[^/]+)\/src\/.*\.tsx?$/.exec(file.path) ?? [];
    if (area === undefined) return [];
    if (!trees.has(file)) {
      const text = file.lines.join('\n');
      trees.set(file, {
        path: file.path,
        area,
        text,
        program: parseAst(text, { lang: file.path.endsWith('x') ? 'tsx' : 'ts' }, file.path),
      });
    }
    return [trees.get(file)];
  });
}

/** Every node beneath `node`, each with its parent. */
export function* walk(node, parent) {
  if (node === null || typeof node !== 'object') return;
  if (Array.isArray(node)) {
    for (const one of node) yield* walk(one, parent);
  } else if (typeof node.type === 'string') {
    yield { node, parent };
    for (const value of Object.values(node)) yield* walk(value, node);
  }
}

export function isFunction({ type }) {
  return type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression';
}

/** The number of the line, from 1, that holds the character at `offset`. */
export function lineAt(text, offset) {
  return text.slice(0, offset).split('\n').length;
}

/**
 * Compares findings with how many each area had when its rule was introduced: that count may only fall, and an area that is
 * not listed has none. A note says where it can be lowered. Judged is only a tree that holds the rule itself.
 */
export function judgeCounts(rule, { files }, { found, counts }) {
  const self = `scripts/rules/${rule}.mjs`;
  if (!files.some(({ path }) => path === self)) return [];
  const listed = [...new Set([...Object.keys(counts), ...found.map(({ area }) => area)])];
  return listed.flatMap((area) => {
    const faults = found.filter((fault) => fault.area === area);
    const limit = counts[area] ?? 0;
    if (faults.length > limit) {
      const excess = limit === 0 ? '' : `; ${area} has ${faults.length} such places, at most ${limit}`;
      return faults.map(({ file, line, message }) => ({ file, line, message: `${message}${excess}` }));
    }
    if (faults.length === limit) return [];
    const message = `lower the count of ${area} from ${limit} to ${faults.length}`;
    return [{ file: self, line: 1, message, isNote: true }];
  });
}
