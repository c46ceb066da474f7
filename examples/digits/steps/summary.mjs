// summary: runs last, also if a step has failed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions } from './digits.mjs';

const { run, status, out } = readOptions('run', 'status', 'out');

const text = `run ${run} ${status}\n`;
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'summary.txt'), text);
process.stdout.write(text);
