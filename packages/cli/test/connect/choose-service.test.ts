import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chooseService } from '../../src/connect/choose-service.ts';
import { chooseSetting } from '../../src/connect/choose-setting.ts';
import type { GlobalOptions } from '../../src/context/command-context.ts';
import { createTestContext } from '../recording-terminal.ts';

let place: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'sluice-choose-'));
  mkdirSync(join(place, 'config/sluice/profiles'), { recursive: true });
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

const KEYS = ['service', 'account', 'cluster'] as const;
/** In the order of precedence: what each source says about every setting is its own name. */
const SOURCES = ['flag', 'flagged-profile', 'variable', 'variable-profile', 'project', 'user'] as const;
type Source = (typeof SOURCES)[number];

const PROFILES: Partial<Record<Source, string>> = {
  'flagged-profile': 'config/sluice/profiles/flagged.yaml',
  'variable-profile': 'config/sluice/profiles/variable.yaml',
  project: 'profile.yaml',
  user: 'config/sluice/profiles/default.yaml',
};

function settingOf(key: (typeof KEYS)[number], source: Source): string {
  return key === 'service' ? `https://${source}.example` : source;
}

function chooseFrom(sources: readonly Source[]) {
  for (const source of sources) {
    const file = PROFILES[source];
    const text = KEYS.map((key) => `${key}: ${settingOf(key, source)}\n`).join('');
    if (file !== undefined) writeFileSync(join(place, file), text);
  }
  const all = (source: Source, name: (key: (typeof KEYS)[number]) => string) =>
    sources.includes(source) ? Object.fromEntries(KEYS.map((key) => [name(key), settingOf(key, source)])) : {};
  const env = {
    XDG_CONFIG_HOME: join(place, 'config'),
    XDG_STATE_HOME: join(place, 'state'),
    ...all('variable', (key) => `SLUICE_${key.toUpperCase()}`),
    ...(sources.includes('variable-profile') && { SLUICE_PROFILE: 'variable' }),
  };
  const flags: GlobalOptions = {
    home: place,
    ...all('flag', (key) => key),
    ...(sources.includes('flagged-profile') && { profile: 'flagged' }),
  };
  const chosen = chooseService(flags, createTestContext({ cwd: place, env }));
  if (!chosen.ok) throw new Error(chosen.error.message);
  const { profile, url } = chosen.value;
  const settings = { flags, env, profile };
  return { service: url, account: chooseSetting('account', settings), cluster: chooseSetting('cluster', settings) };
}

test.each(SOURCES.map((first, rank) => [first, SOURCES.slice(rank)] as const))(
  'service, account and cluster come from the %s if it and every later source name them',
  (first, sources) => {
    expect(chooseFrom(sources)).toEqual({
      service: settingOf('service', first),
      account: first,
      cluster: first,
    });
  },
);

test('no source at all is the embedded service', () => {
  expect(chooseFrom([])).toEqual({ service: undefined, account: undefined, cluster: undefined });
});

test.each<[what: string, flags: GlobalOptions, profile: string, env: Record<string, string>, expected: object]>([
  ['is local by default', {}, '', {}, { name: 'local', url: undefined }],
  ['is that of a flag', { engine: 'slurm' }, '', {}, { name: 'slurm', url: undefined }],
  [
    'of a flag is used although a variable and a profile name a service',
    { engine: 'slurm' },
    'service: https://profile.example\n',
    { SLUICE_SERVICE: 'https://variable.example' },
    { name: 'slurm', url: undefined },
  ],
  ['is that of the profile', {}, 'engine: slurm\n', {}, { name: 'slurm', url: undefined }],
  [
    'of a profile that is not named gives way to a variable',
    {},
    'engine: slurm\n',
    { SLUICE_SERVICE: 'https://variable.example' },
    { url: 'https://variable.example' },
  ],
  [
    'of a named profile is used although a variable names a service',
    { profile: 'default' },
    'engine: slurm\n',
    { SLUICE_SERVICE: 'https://variable.example' },
    { name: 'slurm', url: undefined },
  ],
  [
    'is local on the only node of a job of Slurm',
    {},
    '',
    { SLURM_JOB_ID: '12', SLURM_JOB_NUM_NODES: '1', SLURMD_NODENAME: 'n1' },
    { name: 'local' },
  ],
  [
    'is that of the node in a shell of salloc on another machine',
    {},
    '',
    { SLURM_JOB_ID: '12', SLURM_JOB_NUM_NODES: '1' },
    { name: 'slurm-job', options: { job: '12' } },
  ],
  [
    'is that of the nodes in a job of Slurm with several',
    {},
    '',
    { SLURM_JOB_ID: '12', SLURM_JOB_NUM_NODES: '2' },
    { name: 'slurm-job', options: { job: '12' } },
  ],
  [
    'of a profile for jobs has the options of the profile',
    {},
    'engine: slurm-job\noptions: { runtime: charliecloud }\n',
    { SLURM_JOB_ID: '12', SLURM_JOB_NUM_NODES: '1', SLURMD_NODENAME: 'n1' },
    { name: 'slurm-job', options: { runtime: 'charliecloud', job: '12' } },
  ],
  [
    'is that of the nodes in a job of Slurm that is submitted again',
    { resubmit: true },
    '',
    { SLURM_JOB_ID: '12', SLURM_JOB_NUM_NODES: '1', SLURMD_NODENAME: 'n1' },
    { name: 'slurm-job', options: { job: '12' } },
  ],
  [
    'of a recorded run does not depend on the job',
    { isRecorded: true },
    '',
    { SLURM_JOB_ID: '12', SLURM_JOB_NUM_NODES: '2' },
    { name: 'local' },
  ],
  [
    'of the profile is used in a job of Slurm',
    {},
    'engine: slurm\n',
    { SLURM_JOB_ID: '12', SLURM_JOB_NUM_NODES: '2' },
    { name: 'slurm' },
  ],
  [
    'has the options of the profile for it',
    { engine: 'slurm' },
    'engine: slurm\noptions: { partition: gpu }\n',
    {},
    { name: 'slurm', options: { partition: 'gpu' } },
  ],
  [
    'slurm has defaults of sbatch, for which the profile has no options',
    {},
    'engine: slurm\noptions: { partition: gpu }\n',
    { SBATCH_PARTITION: 'main', SBATCH_ACCOUNT: 'physics', SBATCH_WAIT: '1' },
    { name: 'slurm', options: { partition: 'gpu', account: 'physics' } },
  ],
  [
    'slurm-job has none: the job has its options',
    { engine: 'slurm-job' },
    '',
    { SBATCH_ACCOUNT: 'physics' },
    { name: 'slurm-job', options: {} },
  ],
  [
    'has no options of a profile for another',
    { engine: 'local' },
    'engine: slurm\noptions: { partition: gpu }\n',
    {},
    { name: 'local', options: {} },
  ],
])('chooseService: the engine %s', (_what, flags, profile, variables, expected) => {
  writeFileSync(join(place, 'config/sluice/profiles/default.yaml'), profile);
  const env = { XDG_CONFIG_HOME: join(place, 'config'), XDG_STATE_HOME: join(place, 'state'), ...variables };
  const chosen = chooseService({ home: place, ...flags }, createTestContext({ cwd: place, env }));
  if (!chosen.ok) throw new Error(chosen.error.message);
  const { url, engine } = chosen.value;
  expect({ url, ...engine }).toMatchObject(expected);
  if ('options' in expected) expect(engine.options).toEqual(expected.options);
});

test('chooseService rejects an unconfirmed profile that names an engine, whose options select programs', () => {
  mkdirSync(join(place, '.sluice'));
  writeFileSync(join(place, '.sluice/profile.yaml'), 'engine: slurm\noptions: { confPath: /tmp/slurm.conf }\n');
  const chosen = chooseService({}, createTestContext({ cwd: place, env: { XDG_STATE_HOME: join(place, 'state') } }));
  expect(chosen).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('containers would run with the engine slurm and its options') },
  });
});
