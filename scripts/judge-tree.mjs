import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readTree } from './rules/read-tree.mjs';

const rules = fileURLToPath(new URL('./rules', import.meta.url));

/** What the house rules say of the tree at `root`: the lines to print, and the exit code. */
export async function judgeTree(root) {
  const tree = readTree(root);
  const faults = [];
  for (const file of readdirSync(rules).sort()) {
    if (file === 'read-tree.mjs') continue;
    const rule = file.replace('.mjs', '');
    const { check } = await import(`./rules/${rule}.mjs`);
    faults.push(...check(tree).map((fault) => ({ rule, ...fault })));
  }
  faults.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
  const lines = faults.map(({ file, line, message, rule }) => `${file}:${line}: ${message} (${rule})`);
  const violations = faults.filter(({ isNote }) => isNote !== true).length;
  lines.push(`${tree.files.length} files, ${violations === 0 ? 'no violations' : `${violations} violations`}`);
  return { lines, status: violations === 0 ? 0 : 1 };
}
