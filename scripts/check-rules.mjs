// The house rules that no compiler checks (CONTRIBUTING.md). Usage: node scripts/check-rules.mjs [ROOT]
import { fileURLToPath } from 'node:url';
import { judgeTree } from './judge-tree.mjs';

const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));
const { lines, status } = await judgeTree(root);
console.log(lines.join('\n'));
process.exitCode = status;
