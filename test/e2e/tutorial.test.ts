import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { readGuide } from '../operator/read-guide.ts';
import { COMMAND } from './workplace-rig.ts';

const PAGE = fileURLToPath(new URL('../../docs/tutorial.md', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'sluice-tutorial-'));

afterEach(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));

test('docs/tutorial.md, followed to the letter, does what it says', () => {
  const [tools, place] = [join(directory, 'bin'), join(directory, 'place')];
  mkdirSync(tools);
  writeFileSync(join(tools, 'sluice'), `#!/bin/sh\nexec "${process.execPath}" "${COMMAND}" "$@"\n`);
  chmodSync(join(tools, 'sluice'), 0o755);
  const outputs: string[] = [];
  for (const step of readGuide(readFileSync(PAGE, 'utf8'))) {
    if (step.type === 'file') {
      mkdirSync(dirname(join(place, step.path)), { recursive: true });
      writeFileSync(join(place, step.path), step.text);
      continue;
    }
    const { CI, GITHUB_ACTIONS, FORCE_COLOR, SLUICE_HOME, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync('bash', ['-ec', step.text], {
      cwd: place,
      env: { ...env, PATH: `${tools}:${env.PATH}`, XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory },
      encoding: 'utf8',
    });
    expect(status, `${step.text}\n${stdout}${stderr}`).toBe(0);
    outputs.push(stdout);
  }
  const [first, failed, mended, cached, changed, items, looked] = outputs;
  expect(outputs).toHaveLength(7);
  expect(first).toContain('/in/totals/region-north/sum:42\n/in/totals/region-south/sum:12\n');
  expect(cached).toContain(': 4 reused from earlier runs');
  expect(changed).toContain('the content of inputs.sales changed since run');
  expect(items).toMatch(/: 4 succeeded, 5 reused from earlier runs, 1 skipped/);
  expect(items).toMatch(/REGION +clean +total +good\n(?:.*\n){3}/);
  expect(items).toMatch(/north 42\nwest 3\n$/);
  expect(failed).toContain('│ grep: /in/total: No such file or directory\n');
  expect(failed).toContain('it ended with 1\n');
  expect(mended).toMatch(/: 1 succeeded, 3 reused from earlier runs/);
  expect(looked).toContain('report.html');
});
