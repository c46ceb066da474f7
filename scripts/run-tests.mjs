// Runs all tests. Those on Docker and on Slurm mostly wait for the engine: where the engines are, they run in a process of
// their own beside the other tests, one file after the other, and print when those are done.
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './workspace.mjs';

/** Projects of vitest.config.ts. One pattern: several with `!` would exclude nothing. */
const ENGINES = 'engines-*';
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
const hasEngines = process.env.SLUICE_TEST_DOCKER_SOCKET !== undefined && process.env.SLUICE_TEST_SLURM === '1';

/** Select tests, as those of `vitest run`. */
const selection = process.argv.slice(2);

process.exitCode = hasEngines && selection.length === 0 ? await runBesideEngines() : await vitest(selection, 'inherit');

/** 0 if all passed. */
async function runBesideEngines() {
  const engines = runAndKeep([`--project=${ENGINES}`]);
  const others = await vitest([`--project=!${ENGINES}`], 'inherit');
  const { status, output } = await engines;
  process.stdout.write(`\n== Tests on Docker and Slurm\n${output}`);
  return Math.max(status, others);
}

/** Runs vitest and returns what it has printed. */
async function runAndKeep(args) {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-tests-'));
  const path = join(directory, 'output');
  const file = openSync(path, 'w');
  try {
    const status = await vitest(args, file);
    return { status, output: readFileSync(path, 'utf8') };
  } finally {
    closeSync(file);
    rmSync(directory, { recursive: true });
  }
}

/** The exit status; 1 for an end by a signal. */
function vitest(args, output) {
  const child = spawn(process.execPath, [VITEST, 'run', ...args], { cwd: ROOT, stdio: ['inherit', output, output] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (status) => resolve(status ?? 1));
  });
}
