import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from '../e2e/workplace-rig.ts';

const isMissing = !existsSync('/etc/profile.d/modules.sh') && process.env.CI !== 'true';
const engines = ['local', ...(process.env.SLUICE_TEST_SLURM === '1' || process.env.CI === 'true' ? ['slurm'] : [])];

const PIPELINE = `version: 1
name: modules
steps:
  load:
    modules: ['null', dot]
    command: [sh, -c, 'echo "$LOADEDMODULES"; printf "%s|" "$@" >/out/words/text', sh, a b, '', --, '*']
    outputs: [words]
  one: { modules: dot, script: "printenv LOADEDMODULES | cat" }
  absent: { modules: [dot, absent/1.0], script: echo started >/out/started/text, outputs: [started] }
outputs: { words: { from: load.words, publish: ./results } }
`;

describe.skipIf(isMissing).each(engines)('the modules of a step on the engine %s', (engine) => {
  let place: Workplace;
  beforeEach(() => {
    // Not beneath /tmp, of which each container of Slurm has its own.
    place = createWorkplace(undefined, '/var/tmp');
    writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  });
  afterEach(() => place.remove());

  test('are loaded before its command, which does not run if one is missing', async () => {
    const run = await place.sluice('run', '--engine', engine);
    expect(run).toMatchObject({ exitCode: 1 });
    expect((await place.sluice('logs', 'load')).stdout).toBe('null:dot\n');
    expect((await place.sluice('logs', 'one')).stdout).toBe('dot\n');
    expect(place.read('results/text')).toBe('a b||--|*|');
    expect((await place.sluice('logs', 'absent')).stdout).toContain('could not load the module absent/1.0');
    expect(run.stdout).toContain('exit code 127');
  });
});
