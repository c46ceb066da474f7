// "Nothing to do": a run whose steps are all cached, the whole command with Node's start, beside ninja and make on a
// graph of the same shape that is up to date.
//
//   node bench/cached.mjs [--steps 10000]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SHAPES } from './graphs.mjs';

const { values } = parseArgs({ options: { steps: { type: 'string', default: '10000' } } });
const count = Number(values.steps);
const sluice = fileURLToPath(new URL('../packages/cli/bin/sluice.js', import.meta.url));
const cwd = mkdtempSync(join(tmpdir(), 'sluice-bench-cached-'));

function time(command, args) {
  const start = process.hrtime.bigint();
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
  return { seconds: Number(process.hrtime.bigint() - start) / 1e9, stdout };
}

try {
  const needs = SHAPES.layered(count);
  const steps = needs.map((on, i) => [
    `s${i}`,
    { command: ['true'], cache: true, ...(on.length ? { needs: on.map((n) => `s${n}`) } : {}) },
  ]);
  writeFileSync(
    join(cwd, 'pipeline.json'),
    JSON.stringify({ version: 1, name: 'cached', steps: Object.fromEntries(steps) }),
  );
  writeFileSync(
    join(cwd, 'Makefile'),
    `all: ${needs.map((_, i) => `s${i}`).join(' ')}\n${needs.map((on, i) => `s${i}:${on.map((n) => ` s${n}`).join('')}\n\t@touch $@\n`).join('')}`,
  );
  writeFileSync(
    join(cwd, 'build.ninja'),
    `rule t\n  command = touch $out\n${needs.map((on, i) => `build n${i}: t${on.map((n) => ` n${n}`).join('')}\n`).join('')}`,
  );
  const commands = {
    sluice: [process.execPath, [sluice, 'run', 'pipeline.json', '--home', join(cwd, 'home'), '--cpu', '8']],
    make: ['make', ['-j8', '-s']],
    ninja: ['ninja', ['-j8', '--quiet']],
    'node -e 0': [process.execPath, ['-e', '0']],
  };
  for (const [name, [command, args]] of Object.entries(commands)) {
    time(command, args);
    const runs = Array.from({ length: 5 }, () => time(command, args));
    const [, , median] = runs.map(({ seconds }) => seconds).sort((a, b) => a - b);
    console.log(`${name.padEnd(10)} ${median.toFixed(3)} s`);
    if (name === 'sluice') console.log(runs.at(-1).stdout.trimEnd().split('\n').at(-1));
  }
} finally {
  rmSync(cwd, { recursive: true, force: true });
}
