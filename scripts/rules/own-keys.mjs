import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SyntaxKind } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

const MESSAGE =
  'reads a record by a foreign name, which may be one of JavaScript (`constructor`); use `own(record, name)` or a Map';
/** Every project whose own sources are looked at; a project is a folder with a tsconfig.json. */
const PROJECTS = ['host-system', 'core', 'client', 'run', 'home', 'runner', 'service', 'cli', 'host', 'dashboard'];

/**
 * A record that is read by a name from a file or a request finds `constructor` and `toString` on its prototype. Only the
 * compiler knows which objects are records, so that this rule asks it. A name that was enumerated from the same record,
 * and one that the type limits to known words, are safe.
 */
export function check({ root, files }) {
  const known = new Set(files.map(({ path }) => path));
  const configs = PROJECTS.map((name) => `packages/${name}/tsconfig.json`).filter((path) =>
    existsSync(join(root, path)),
  );
  if (configs.length === 0) return [];
  const api = new API({ cwd: root });
  try {
    const faults = new Map();
    for (const config of configs) {
      const project = api.updateSnapshot({ openProjects: [join(root, config)] }).getProject(join(root, config));
      const folder = `${config.slice(0, -'/tsconfig.json'.length)}/`;
      for (const name of project.program.getSourceFileNames()) {
        const path = name.slice(root.replace(/\/*$/, '/').length);
        if (!path.startsWith(folder) || !path.includes('/src/') || !known.has(path)) continue;
        for (const fault of checkFile(project, name)) faults.set(`${path}:${fault.pos}`, { file: path, ...fault });
      }
    }
    return [...faults.values()].map(({ file, line, message }) => ({ file, line, message }));
  } finally {
    api.close();
  }
}

function checkFile({ checker, program }, name) {
  if (/\/own\.ts$/.test(name)) return [];
  const source = program.getSourceFile(name);
  const accesses = findAccesses(source);
  if (accesses.length === 0) return [];
  const records = checker.getTypeAtLocation(accesses.map(({ record }) => record));
  const keys = checker.getTypeAtLocation(accesses.map(({ key }) => key));
  return accesses.flatMap((access, index) => {
    if (!isRecord(checker, records[index]) || !isForeign(checker, keys[index]) || isEnumerated(source, access))
      return [];
    const pos = access.node.getStart(source);
    return [{ pos, line: source.text.slice(0, pos).split('\n').length, message: MESSAGE }];
  });
}

/** Reads by `record[key]` and `key in record`, except by a literal. */
function findAccesses(source) {
  const found = [];
  const visit = (node) => {
    if (node.kind === SyntaxKind.ElementAccessExpression) {
      const key = node.argumentExpression;
      if (
        key.kind !== SyntaxKind.StringLiteral &&
        key.kind !== SyntaxKind.NumericLiteral &&
        !isWritten(node, node.parent)
      )
        found.push({ node, record: node.expression, key });
    } else if (node.kind === SyntaxKind.BinaryExpression && node.operatorToken.kind === SyntaxKind.InKeyword) {
      if (node.left.kind !== SyntaxKind.StringLiteral) found.push({ node, record: node.right, key: node.left });
    }
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

/** `record[key] = ...` and `delete record[key]`; `??=` and the like read first. */
function isWritten(node, parent) {
  if (parent.kind === SyntaxKind.DeleteExpression) return true;
  return (
    parent.kind === SyntaxKind.BinaryExpression &&
    parent.operatorToken.kind === SyntaxKind.EqualsToken &&
    parent.left.end === node.end
  );
}

function isRecord(checker, type) {
  const definite = checker.getNonNullableType(type) ?? type;
  const parts = definite.isUnionType() ? definite.getTypes() : [definite];
  const indexes = parts.flatMap((part) => [...checker.getIndexInfosOfType(part)]);
  return indexes.some(({ keyType }) => checker.typeToString(keyType) === 'string');
}

function isForeign(checker, type) {
  const parts = type.isUnionType() ? type.getTypes() : [type];
  return parts.some((part) => !part.isStringLiteralType() && /^(string|`.*)$/.test(checker.typeToString(part)));
}

/** Inside a loop over the names of the very same record. */
function isEnumerated(source, { node, record, key }) {
  const text = (part) => source.text.slice(part.getStart(source), part.end);
  const [of, name] = [text(record), text(key)];
  for (let outer = node.parent; outer !== undefined; outer = outer.parent) {
    if (outer.kind !== SyntaxKind.ForInStatement && outer.kind !== SyntaxKind.ForOfStatement) continue;
    const declared = new RegExp(`^const \\[?${name.replace(/[^\w]/g, '\\$&')}(?:, \\w+)?\\]?$`);
    const over = text(outer.expression);
    if (!declared.test(text(outer.initializer))) continue;
    if (
      outer.kind === SyntaxKind.ForInStatement
        ? over === of
        : [`Object.keys(${of})`, `Object.entries(${of})`].includes(over)
    )
      return true;
  }
  return false;
}
