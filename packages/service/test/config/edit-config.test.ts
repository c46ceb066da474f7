import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ConfigEdit, editConfig } from '../../src/config/edit-config.ts';
import { editConfigFile } from '../../src/config/edit-config-file.ts';
import { parseServiceConfig } from '../../src/config/parse-service-config.ts';

const TEXT = `# ours
root:   data   # aligned by hand
clusters:
  - id: main   # the big one
    engine: docker
    accounts: [vision,   speech]
    instanceTypes:
      # for most
      - { id: small, cpu: 1, memory: 4GB }   # one core
      # for few
      - id: large
        cpu: 8
        memory: 32GB   # a lot

  - { id: other, engine: process, instanceTypes: [{ id: tiny, cpu: 1, memory: 1GB }] }
# the end
listen: []
`;

function edited(edit: ConfigEdit, text = TEXT): string {
  const result = editConfig(text, edit);
  return result.ok ? result.text : result.message;
}

/** The lines that an edit removes, and those that it adds. */
function changedLines(edit: ConfigEdit): { gone: string[]; come: string[] } {
  const [before, after] = [TEXT.split('\n'), edited(edit).split('\n')];
  return {
    gone: before.filter((line) => !after.includes(line)),
    come: after.filter((line) => !before.includes(line)),
  };
}

describe('editConfig', () => {
  test.each<[ConfigEdit, string[], string[]]>([
    [
      { type: 'addAccount', clusterID: 'main', accountID: 'audio' },
      ['    accounts: [vision,   speech]'],
      ['    accounts: [vision,   speech, audio]'],
    ],
    [
      { type: 'removeAccount', clusterID: 'main', accountID: 'vision' },
      ['    accounts: [vision,   speech]'],
      ['    accounts: [speech]'],
    ],
    [
      { type: 'removeAccount', clusterID: 'main', accountID: 'speech' },
      ['    accounts: [vision,   speech]'],
      ['    accounts: [vision]'],
    ],
    [
      { type: 'addAccount', clusterID: 'other', accountID: 'team' },
      ['  - { id: other, engine: process, instanceTypes: [{ id: tiny, cpu: 1, memory: 1GB }] }'],
      ['  - { id: other, engine: process, instanceTypes: [{ id: tiny, cpu: 1, memory: 1GB }], accounts: [team] }'],
    ],
    [
      { type: 'addInstanceType', clusterID: 'main', fields: { id: 'huge', cpu: 64, memory: '512GB' } },
      [],
      ['      - { id: huge, cpu: 64, memory: 512GB }'],
    ],
    [
      { type: 'removeInstanceType', clusterID: 'main', typeId: 'large' },
      ['      - id: large', '        cpu: 8', '        memory: 32GB   # a lot'],
      [],
    ],
    [
      { type: 'removeInstanceType', clusterID: 'main', typeId: 'small' },
      ['      - { id: small, cpu: 1, memory: 4GB }   # one core'],
      [],
    ],
    [
      {
        type: 'addCluster',
        fields: { id: 'gpu', engine: 'slurm', instanceTypes: [{ id: 'a', cpu: 1, memory: '1GB' }] },
      },
      [],
      ['  - { id: gpu, engine: slurm, instanceTypes: [ { id: a, cpu: 1, memory: 1GB } ] }'],
    ],
    [
      { type: 'removeCluster', clusterID: 'other' },
      ['  - { id: other, engine: process, instanceTypes: [{ id: tiny, cpu: 1, memory: 1GB }] }'],
      [],
    ],
  ])('changes only the edited place: %j', (edit, gone, come) => {
    expect(changedLines(edit)).toEqual({ gone, come });
    expect(parseServiceConfig(edited(edit), '/srv')).toMatchObject({ ok: true });
  });

  test('restores the text by the opposite edit, also in a list of one', () => {
    const text = TEXT.replace('[vision,   speech]', '\n      - vision   # first');
    const added = edited({ type: 'addAccount', clusterID: 'main', accountID: 'audio' }, text);
    expect(edited({ type: 'removeAccount', clusterID: 'main', accountID: 'audio' }, added)).toBe(text);
    const empty = edited({ type: 'removeAccount', clusterID: 'main', accountID: 'vision' }, text);
    expect(parseServiceConfig(empty, '/srv')).toMatchObject({ value: { clusters: [{ accounts: [] }, {}] } });
    const again = edited({ type: 'addAccount', clusterID: 'main', accountID: 'vision' }, empty);
    expect(parseServiceConfig(again, '/srv')).toMatchObject({ value: { clusters: [{ accounts: ['vision'] }, {}] } });
  });

  test('reports what does not exist, what already exists, and what it cannot change', () => {
    expect(edited({ type: 'removeCluster', clusterID: 'mian' })).toBe(
      'there is no cluster mian; the configuration has main, other',
    );
    expect(edited({ type: 'addAccount', clusterID: 'main', accountID: 'vision' })).toContain('already');
    expect(edited({ type: 'removeInstanceType', clusterID: 'main', typeId: 'x' })).toContain('it has small, large');
    const shared = TEXT.replace('[vision,   speech]', '&all [vision]').replace(
      'engine: process',
      'engine: docker, accounts: *all',
    );
    expect(edited({ type: 'addAccount', clusterID: 'main', accountID: 'audio' }, shared)).toContain('by hand');
  });
});

describe('editConfigFile', () => {
  function fileOf(text: string): string {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-config-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    writeFileSync(join(directory, 'service.yaml'), text, { mode: 0o640 });
    return join(directory, 'service.yaml');
  }
  const check = (text: string) => {
    const parsed = parseServiceConfig(text, '/srv');
    return parsed.ok ? undefined : parsed.problems.map(({ message }) => message).join('\n');
  };

  test('loses no concurrent edit, and leaves no temporary file', async () => {
    const file = fileOf(TEXT);
    const names = Array.from({ length: 12 }, (_, index) => `a${index}`);
    const results = await Promise.all(
      names.map((accountID) =>
        editConfigFile(file, { edit: { type: 'addAccount', clusterID: 'main', accountID }, check }),
      ),
    );
    expect(results.map(({ ok }) => ok)).toEqual(names.map(() => true));
    const parsed = parseServiceConfig(readFileSync(file, 'utf8'), '/srv');
    if (!parsed.ok) throw new Error('the file is broken');
    expect(parsed.value.clusters[0]?.accounts.toSorted()).toEqual(['speech', 'vision', ...names].toSorted());
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(file, '..'))).toEqual(['service.yaml']);
  });

  test('writes no invalid configuration, and keeps a link', async () => {
    const file = fileOf(TEXT);
    const link = `${file}.link`;
    symlinkSync(file, link);
    const removeLast: ConfigEdit = { type: 'removeInstanceType', clusterID: 'other', typeId: 'tiny' };
    expect(await editConfigFile(link, { edit: removeLast, check })).toMatchObject({ ok: false });
    expect(readFileSync(file, 'utf8')).toBe(TEXT);
    const add: ConfigEdit = { type: 'addAccount', clusterID: 'main', accountID: 'audio' };
    expect(await editConfigFile(link, { edit: add, check })).toMatchObject({ ok: true });
    expect(readFileSync(file, 'utf8')).toContain('audio');
    expect(readdirSync(join(file, '..')).toSorted()).toEqual(['service.yaml', 'service.yaml.link']);
  });
});
