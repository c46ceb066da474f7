import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { selectHostedOptions } from '../../src/connect/hosted-options.ts';

const env = { SLUICE_SERVICE: 'https://variable.example' };

test('selectHostedOptions keeps the engine, which replaces the service of a variable', () => {
  expect(selectHostedOptions({ engine: 'slurm' }, { env, cwd: '/' })).toEqual({ engine: 'slurm' });
  expect(selectHostedOptions({}, { env, cwd: '/' })).toEqual({ service: 'https://variable.example' });
});

test('selectHostedOptions keeps a named profile, whose engine replaces the service of a variable', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-hosted-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const profile = join(directory, 'slurm.yaml');
  writeFileSync(profile, 'engine: slurm\n');
  expect(selectHostedOptions({ profile }, { env, cwd: '/' })).toEqual({ profile });
});
