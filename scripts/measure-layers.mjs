// Counts the imports between the folders of each package that has layers. Usage: node scripts/measure-layers.mjs [ROOT]
import { fileURLToPath } from 'node:url';
import { findImports, LAYERS } from './rules/layers.mjs';
import { readTree } from './rules/read-tree.mjs';

const { files } = readTree(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
for (const [name, layers] of Object.entries(LAYERS)) {
  const imports = findImports(files, name);
  const pairs = new Set(imports.map(({ from, to }) => `${from} ${to}`));
  const isUpward = ({ from, to }) => layers.indexOf(to) > layers.indexOf(from);
  const upward = imports.filter(isUpward);
  const upwardPairs = new Set(upward.map(({ from, to }) => `${from} ${to}`));
  const twoWay = [...pairs].filter((pair) => pairs.has(pair.split(' ').reverse().join(' '))).length / 2;
  console.log(
    `${name}: ${imports.length} imports between folders; ${pairs.size} dependencies, ${upwardPairs.size} of them upward ` +
      `(${upward.length} imports), ${twoWay} pairs in both directions`,
  );
}
