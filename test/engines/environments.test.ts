import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from '../e2e/workplace-rig.ts';

const engines = ['local', ...(process.env.SLUICE_TEST_SLURM === '1' || process.env.CI === 'true' ? ['slurm'] : [])];

/** A package with a module and a program, in a directory that pip takes for its index. */
const WHEEL = `
import sys, zipfile
version = sys.argv[1]
info = f'sluice_sample-{version}.dist-info'
with zipfile.ZipFile(f'{sys.argv[2]}/sluice_sample-{version}-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('sluice_sample.py', f'def tell():\\n    print("sample {version}")\\n')
    wheel.writestr(f'{info}/METADATA', f'Metadata-Version: 2.1\\nName: sluice-sample\\nVersion: {version}\\n')
    wheel.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(f'{info}/entry_points.txt', '[console_scripts]\\nsample = sluice_sample:tell\\n')
    wheel.writestr(f'{info}/RECORD', '')
`;

/** What the test needs of Conda: it makes the directory from the file that it is called with. */
const CONDA = `#!/bin/sh -eu
[ "$*" = "env create --quiet --prefix /opt/conda-env --file /in/packages/environment.yml" ]
mkdir -p "$5/bin"
printf '#!/bin/sh\\ncat %s/packages\\n' "$5" >"$5/bin/packages"
chmod +x "$5/bin/packages"
cp "$7" "$5/packages"
`;

describe.each(engines)('an environment of a step on the engine %s', (engine) => {
  let place: Workplace;
  const run = () => place.sluice('run', '--engine', engine);
  const logOf = async (step: string) => (await place.sluice('logs', step)).stdout;
  const write = (name: string, text: string) => writeFileSync(join(place.directory, name), text);
  beforeEach(() => {
    // Not beneath /tmp, of which each container of Slurm has its own.
    place = createWorkplace(undefined, '/var/tmp');
    for (const name of ['wheels', 'bin']) mkdirSync(join(place.directory, name));
  });
  afterEach(() => place.remove());

  test('has the packages of a requirements file, is read-only, and is made once', async () => {
    for (const version of ['1.0', '1.1']) {
      const made = spawnSync('python3', ['-c', WHEEL, version, join(place.directory, 'wheels')], { encoding: 'utf8' });
      expect(made).toMatchObject({ status: 0, stderr: '' });
    }
    write('requirements.txt', 'sluice-sample==1.0\n');
    write(
      'pipeline.yaml',
      `version: 1
name: sample
env: { PIP_NO_INDEX: "1", PIP_FIND_LINKS: ${place.directory}/wheels }
steps:
  module: { venv: requirements.txt, command: [python, -c, "import sluice_sample, sys; sluice_sample.tell(); print(sys.prefix)"] }
  program: { venv: requirements.txt, script: "sample; touch /opt/venv/new || echo read-only" }
`,
    );
    const first = await run();
    expect(first, first.stderr).toMatchObject({ exitCode: 0 });
    expect(await logOf('module')).toBe('sample 1.0\n/opt/venv\n');
    expect(await logOf('program')).toMatch(/^sample 1\.0\n.*Read-only file system\nread-only\n$/);
    expect((await run()).stdout).toContain('1 reused from earlier runs');
    // The rest is the same on every engine, and pip takes long.
    if (engine !== 'local') return;
    write('requirements.txt', 'sluice-sample==1.1\n');
    expect((await run()).stdout).not.toContain('reused');
    expect(await logOf('program')).toContain('sample 1.1\n');
    write('requirements.txt', 'sluice-absent==1\n');
    expect(await run()).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('sluice-absent') });
  });

  test('is made by conda, from a file that only its step sees', async () => {
    write('environment.yml', 'dependencies: [sample]\n');
    write('bin/conda', CONDA);
    chmodSync(join(place.directory, 'bin/conda'), 0o755);
    write(
      'pipeline.yaml',
      `version: 1
name: sample
env: { PATH: "${place.directory}/bin:/usr/bin:/bin" }
steps:
  program: { conda: environment.yml, script: "packages; echo $CONDA_PREFIX; test ! -e /in/packages" }
`,
    );
    const first = await run();
    expect(first, first.stderr).toMatchObject({ exitCode: 0 });
    expect(await logOf('program')).toBe('dependencies: [sample]\n/opt/conda-env\n');
  });
});
