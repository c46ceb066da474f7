// Runs all tests. Those on Docker and on Slurm mostly wait for the engine, and each has only one of it: where the engines
// are, they run in processes of their own beside the other tests, and print when those are done.
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './workspace.mjs';

const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
const hasEngines = process.env.SLUICE_TEST_DOCKER_SOCKET !== undefined && process.env.SLUICE_TEST_SLURM === '1';

process.exitCode = hasEngines ? await runBesideEngines() : await vitest([], 'inherit');

/** 0 if all passed. The tests of project `engines` use several of them, so they come last. */
async function runBesideEngines() {
  const engines = Promise.all([runAndKeep('docker'), runAndKeep('slurm')]);
  const others = await vitest(['--project=!docker', '--project=!slurm', '--project=!engines'], 'inherit');
  const statuses = [others];
  for (const { status, output } of [...(await engines), await runAndKeep('engines')]) {
    process.stdout.write(output);
    statuses.push(status);
  }
  return Math.max(...statuses);
}

async function runAndKeep(project) {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-tests-'));
  const path = join(directory, 'output');
  const file = openSync(path, 'w');
  try {
    const status = await vitest([`--project=${project}`], file);
    return { status, output: `\n== Tests of project ${project}\n${readFileSync(path, 'utf8')}` };
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
