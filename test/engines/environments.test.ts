import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from '../e2e/workplace-rig.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/slurm.md', import.meta.url)), 'utf8');
const engines = ['local', ...(process.env.SLUICE_TEST_SLURM === '1' || process.env.CI === 'true' ? ['slurm'] : [])];

/** The example of the page. Its `pip install` needs an index of packages, so a program that names the path replaces it. */
function findPipeline(): string {
  const [, example = ''] = /```yaml\n(version: 1\nname: trained\n[^`]*)```/.exec(page) ?? [];
  const install = '/opt/venv/bin/pip install --no-cache-dir -r /in/requirements/requirements.txt';
  expect(example).toContain(install);
  const tool = `printf '#!/opt/venv/bin/python\\nprint("tool")\\n' >/opt/venv/bin/tool && chmod +x /opt/venv/bin/tool && test -f /in/requirements/requirements.txt`;
  return example
    .replace('-m venv', '-m venv --without-pip')
    .replace(install, tool)
    .concat(
      '  use:\n    inputs: { venv: { from: environment.venv, path: /opt/venv } }\n    script: /opt/venv/bin/tool; touch /opt/venv/new\n',
    );
}

describe.each(engines)('an environment that a step makes on the engine %s', (engine) => {
  let place: Workplace;
  beforeEach(() => {
    // Not beneath /tmp, of which each container of Slurm has its own.
    place = createWorkplace(undefined, '/var/tmp');
    writeFileSync(join(place.directory, 'requirements.txt'), 'six==1.16.0\n');
    writeFileSync(join(place.directory, 'pipeline.yaml'), findPipeline());
  });
  afterEach(() => place.remove());

  test('is used where it was made, is not changed, and is made once', async () => {
    const run = () => place.sluice('run', '--engine', engine);
    // `use` fails, because it cannot write there.
    expect(await run()).toMatchObject({ exitCode: 1 });
    expect((await place.sluice('logs', 'fit')).stdout).toBe('/opt/venv\n');
    expect((await place.sluice('logs', 'use')).stdout).toMatch(/^tool\n.*Read-only file system/);
    expect((await run()).stdout).toContain('1 reused from earlier runs');
    writeFileSync(join(place.directory, 'requirements.txt'), 'six==1.17.0\n');
    expect((await run()).stdout).not.toContain('reused');
  });
});
