import { judgeCounts, lineAt, parseSources } from '../source-rules.mjs';

/** Undocumented exports from before the rule existed. A count may only fall; a package without one has none. */
const TOLERATED = {};

/** What a file exports has a comment for those who use it without reading the file. */
export function check(tree) {
  const found = parseSources(tree).flatMap(({ path, area, text, program }) => {
    const documented = new Set();
    return program.body.flatMap((statement) => {
      if (statement.type !== 'ExportNamedDeclaration' || statement.declaration === null) return [];
      const name = nameOf(statement.declaration);
      // The first of several overloads has the comment for all.
      if (/\*\/\s*$/.test(text.slice(0, statement.start))) documented.add(name);
      if (documented.has(name)) return [];
      return [{ area, file: path, line: lineAt(text, statement.start), message: `no comment for the export ${name}` }];
    });
  });
  return judgeCounts('documented-exports', tree, { found, counts: TOLERATED });
}

function nameOf({ id, declarations }) {
  return id?.name ?? declarations?.map((one) => one.id.name).join(', ');
}
