import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'sluice-kill-'));
  for (const run of ['old', 'new']) {
    mkdirSync(join(base, 'volume', run, 'deep', run), { recursive: true });
    for (const name of ['model.bin', `deep/${run}/a`]) writeFileSync(join(base, 'volume', run, name), run);
  }
  writeFileSync(join(base, 'kill.mjs'), PROGRAM);
  writeFileSync(join(base, 'deliver.mjs'), DELIVER);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const dist = (path: string) => resolve(import.meta.dirname, '../../packages', path);

/** Delivers a run's files; kills itself just before its n-th call that changes a directory or a file. */
const PROGRAM = `
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
const [base, run, killAt] = process.argv.slice(2);
let calls = 0;
for (const [module, names] of [[fs, ['renameSync', 'createWriteStream']], [fsp, ['mkdir', 'rename', 'rm', 'rmdir', 'unlink', 'writeFile', 'symlink']]]) {
  for (const name of names) {
    const original = module[name];
    module[name] = (...given) => {
      if (++calls === Number(killAt)) process.kill(process.pid, 'SIGKILL');
      return original(...given);
    };
  }
}
syncBuiltinESMExports();
const { deliver } = await import(base + '/deliver.mjs');
await deliver(base, run);
`;

const DELIVER = `
import { deliverTree } from ${JSON.stringify(dist('runner/dist/trees/deliver-tree.js'))};
import { createDirectFiles } from ${JSON.stringify(dist('service/dist/volumes/files/direct-files.js'))};
export async function deliver(base, run) {
  const done = await deliverTree({
    sources: [{ files: createDirectFiles(base + '/volume'), from: run, into: '' }],
    to: base + '/results',
    owner: run,
    marker: { runId: run, pipeline: 'p', output: 'o' },
    now: Date.now(),
    around: [],
  });
  if (!done.ok || done.value.length > 0) throw new Error(JSON.stringify(done));
}
`;

function deliverAndDie(run: string, killAt: number): 'done' | 'killed' {
  const { status, signal, stderr } = spawnSync(process.execPath, [join(base, 'kill.mjs'), base, run, `${killAt}`]);
  if (signal === 'SIGKILL') return 'killed';
  expect(status, stderr.toString()).toBe(0);
  return 'done';
}

const filesOf = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();

/** The run whose result lies there; whatever is of two runs fails. */
function runOf(directory: string): string {
  const { runId: run, files } = JSON.parse(readFileSync(join(directory, '.sluice-result.json'), 'utf8'));
  expect(filesOf(directory)).toEqual(['.sluice-result.json', ...files].sort());
  for (const file of files) expect(readFileSync(join(directory, file), 'utf8')).toBe(run);
  return run;
}

test('a delivery that is killed before any of its calls leaves one whole result, and the next one leaves nothing of it', async () => {
  const deliver: (base: string, run: string) => Promise<void> = (await import(join(base, 'deliver.mjs'))).deliver;
  const seen = new Set<string>();
  for (let killAt = 1; ; killAt++) {
    rmSync(join(base, 'results'), { recursive: true, force: true });
    await deliver(base, 'old');
    const ended = deliverAndDie('new', killAt);
    const names = readdirSync(base);
    // Between the two renames the old result has no name of its own, and is whole all the same.
    const place = names.includes('results') ? 'results' : names.find((name) => name.endsWith('.old'));
    seen.add(`${place === 'results' ? 'in place' : 'aside'}: ${runOf(join(base, place ?? 'results'))}`);
    await deliver(base, 'new');
    expect(runOf(join(base, 'results'))).toBe('new');
    expect(readdirSync(base).sort()).toEqual(['deliver.mjs', 'kill.mjs', 'results', 'volume']);
    if (ended === 'done') break;
  }
  expect([...seen].sort()).toEqual(['aside: old', 'in place: new', 'in place: old']);
});
