// Writes the version of packages/cli/package.json into the source of the command. Part of `pnpm run version`.
import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../packages/cli/package.json', import.meta.url), 'utf8'));
const file = new URL('../packages/cli/src/command-line/version.ts', import.meta.url);
const text = readFileSync(file, 'utf8');
writeFileSync(file, text.replace(/VERSION = '.*'/, `VERSION = '${version}'`));
