// The house rules that no compiler checks (CONTRIBUTING.md). Usage: node scripts/check-rules.mjs [ROOT]
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readTree } from './rules/read-tree.mjs';

const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));
const rules = fileURLToPath(new URL('./rules', import.meta.url));

const tree = readTree(root);
const faults = [];
for (const file of readdirSync(rules).sort()) {
  if (file === 'read-tree.mjs') continue;
  const { check } = await import(`./rules/${file}`);
  const rule = file.replace('.mjs', '');
  faults.push(...check(tree).map((fault) => ({ rule, ...fault })));
}
faults.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
for (const { file, line, message, rule } of faults) console.log(`${file}:${line}: ${message} (${rule})`);
const violations = faults.filter(({ isNote }) => isNote !== true).length;
console.log(`${tree.files.length} files, ${violations === 0 ? 'no violations' : `${violations} violations`}`);
process.exitCode = violations === 0 ? 0 : 1;
