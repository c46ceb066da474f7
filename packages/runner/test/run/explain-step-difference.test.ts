import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile as writeLocal } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPlan, fail, type Json, ok, parsePipeline } from '@sluice/core';
import { compareSteps, explainStepDifference, findPreviousRun, replayFromHome, type SourceLister } from '@sluice/home';
import { type ReplayedRun, type RunSummary, type StepDifference, stepDifference } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { startRun } from '../../src/run/start-run.ts';

import { readSourceFiles } from '../../src/trees/source-mark.ts';
import { createMemoryFiles, writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

interface Asked {
  readonly params?: Readonly<Record<string, Json>>;
  readonly baseDir?: string;
}

/** Executes a pipeline in the simulated world and reads it from its records. */
async function run(rig: Rig, text: string, { params = {}, baseDir = '/base' }: Asked = {}): Promise<ReplayedRun> {
  const parsed = parsePipeline({ file: 'p.yaml', text: `version: 1\nname: sample\n${text}` });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  const started = await rig.go(
    startRun({ ...rig.options, plan: plan.value, baseDir, secrets: (name) => `value-of-${name}` }),
  );
  if (!started.ok) throw new Error(started.error.message);
  await rig.go(started.value.finished);
  return read(rig, started.value.runId);
}

async function read(rig: Rig, runId: string): Promise<ReplayedRun> {
  const replayed = await rig.go(replayFromHome(rig.options.disk!, rig.options.home, runId));
  if (!replayed.ok) throw new Error(replayed.error.message);
  return replayed.value;
}

type Options = Parameters<typeof explainStepDifference>[0];

async function compare(rig: Rig, options: Omit<Options, 'clock'>): Promise<StepDifference> {
  const explained = await rig.go(explainStepDifference({ ...options, clock: rig.options.clock! }));
  if (!explained.ok) throw new Error(explained.error.message);
  return stepDifference.parse(explained.value);
}

const chain = (seed: number, more = '') => `
steps:
  prepare: { image: i, command: [make], env: { SEED: "${seed}" }, outputs: { data: /out } }
  fit: { image: i, command: [fit], inputs: { data: { from: prepare.data, path: /in } }, outputs: { model: /out } }
  score: { image: i, command: [score], inputs: { model: { from: fit.model, path: /in } } ${more} }
`;

describe('explainStepDifference', () => {
  test('follows an input to the step whose variable was changed', async () => {
    const rig = createRig('differ-input');
    const other = await run(rig, chain(1));
    const later = await run(rig, chain(2));
    const found = await compare(rig, { run: later, other, step: 'fit' });
    expect(found.message).toBe(
      `fit differs from run ${other.runId} because its input 'data' differs: prepare differs: its variable SEED was '1', is '2'`,
    );
    expect(found.groups).toMatchObject([{ verdict: 'different', cellCount: 1, place: 0 }]);
    expect(found.places).toEqual([
      {
        ...{ step: 'fit', cell: '', cellIndex: 0, verdict: 'different', message: 'fit differs', partCount: 1 },
        parts: [{ kind: 'input', name: 'inputs.data', message: "its input 'data' differs", place: 1 }],
      },
      {
        ...{ step: 'prepare', cell: '', cellIndex: 0, verdict: 'different', message: 'prepare differs', partCount: 1 },
        parts: [
          {
            ...{ kind: 'variable', name: 'env.SEED', before: '1', after: '2' },
            message: "its variable SEED was '1', is '2'",
          },
        ],
      },
    ]);
    const last = await compare(rig, { run: later, other, step: 'score' });
    expect(last.message).toContain(
      "because its input 'model' differs: fit differs: its input 'data' differs: prepare differs: its variable SEED",
    );
  });

  test('says when the same work was executed again, why, and puts what was changed first', async () => {
    const rig = createRig('differ-repeated');
    const other = await run(rig, chain(1));
    const again = await run(rig, chain(1));
    const found = await compare(rig, { run: again, other, step: 'prepare' });
    const done = 'prepare did the same work in both runs, but run';
    expect(found.message).toBe(
      `${done} ${again.runId} executed it again: the step does not set cache, and the run reuses no other`,
    );
    expect(found.groups).toMatchObject([{ verdict: 'repeated' }]);
    const fit = await compare(rig, { run: again, other, step: 'fit' });
    expect(fit.groups).toMatchObject([{ verdict: 'repeated' }]);
    expect(fit.message).toContain(
      `fit differs only in what was executed again since run ${other.runId}: its input 'data' differs: ${done}`,
    );
    const steps = await rig.go(compareSteps(again, other, rig.options.clock));
    expect(steps).toMatchObject({
      steps: ['prepare', 'fit', 'score'].map((step) => ({ step, verdict: 'repeated', differentCount: 0 })),
      total: 3,
    });
    const changed = await run(rig, chain(1, ', env: { LEVEL: high }'));
    const score = await compare(rig, { run: changed, other, step: 'score' });
    expect(score.message).toBe(
      `score differs from run ${other.runId} because its variable LEVEL is new: 'high' (and 1 other part differs)`,
    );
    expect(score.places[0]!.parts.map(({ name }) => name)).toEqual(['env.LEVEL', 'inputs.model']);
    const cached = (seed: number) => `
steps:
  prepare: { image: i, command: [make], env: { SEED: "${seed}" }, cache: true, outputs: { data: /out } }
`;
    const first = await run(rig, cached(1));
    const second = await run(rig, cached(1));
    expect((await compare(rig, { run: second, other: first, step: 'prepare' })).message).toBe(
      `prepare did the same work in both runs; run ${second.runId} reuses the result of run ${first.runId}`,
    );
  });

  test('names the parameter and the result that a text reads', async () => {
    const rig = createRig('differ-values', { behave: { count: { work: (container) => writeResult(rig, container) } } });
    const text = `
params: { rate: { type: number, default: 1 }, size: { type: integer, default: 3 } }
steps:
  count: { image: i, command: [count], env: { SIZE: "\${{ params.size }}" }, results: { rows: number } }
  fit: { image: i, command: [fit, "--rate=\${{ params.rate }}"], env: { RATE: "\${{ params.rate }}" } }
  use: { image: i, command: [use, "\${{ steps.count.results.rows }}"] }
  script: { image: i, script: "echo \${{ params.rate }}" }
`;
    const other = await run(rig, text);
    const later = await run(rig, text, { params: { rate: 2, size: 4 } });
    const fit = await compare(rig, { run: later, other, step: 'fit' });
    expect(fit.places[0]!.parts.map(({ message }) => message)).toEqual([
      'its command differs because parameter rate was 1, is 2'.replaceAll(/(\d)/g, "'$1'"),
      "its variable RATE was '1', is '2' (parameter rate)",
    ]);
    expect((await compare(rig, { run: later, other, step: 'use' })).message).toBe(
      `use differs from run ${other.runId} because its command differs because result 'rows' of count was '1', is '2': count differs: its variable SIZE was '3', is '4' (parameter size)`,
    );
    expect((await compare(rig, { run: later, other, step: 'script' })).message).toContain(
      "the value of ${{ params.rate }} in its script was '1', is '2'",
    );
  });

  test('shows the line of a script, the digest of an image, and the name of a secret but never its value', async () => {
    const rig = createRig('differ-texts');
    const text = (line: string, secret: string, image: string) => `
secrets: [OLD, NEW]
steps:
  fit:
    image: ${image}
    env: { TOKEN: "\${{ secrets.${secret} }}", LONG: "${'x'.repeat(300)}${line}" }
    script: |
      echo begin
      echo ${line}
`;
    const other = await run(rig, text('one', 'OLD', 'a:1'));
    const later = await run(rig, text('two', 'NEW', 'b:1'));
    const found = await compare(rig, { run: later, other, step: 'fit' });
    expect(found.places[0]!.parts.map(({ message }) => message)).toEqual([
      "line 2 of its command was 'echo one', is 'echo two'",
      `its variable LONG was '…${'x'.repeat(20)}one', is '…${'x'.repeat(20)}two'`,
      "its image was 'a:1', is 'b:1'",
      "the name of the secret in its variable TOKEN was 'OLD', is 'NEW'",
    ]);
    expect(JSON.stringify(found)).not.toContain('value-of');
  });

  test('groups the cells of a step, matches renamed axes by their values, and counts', async () => {
    const rig = createRig('differ-cells');
    const grid = (axis: string, values: string, seed = 1) => `
steps:
  prepare: { image: i, command: [make], env: { SEED: "${seed}" }, outputs: { data: /out } }
  fit:
    image: i
    matrix: { ${axis}: ${values} }
    command: [fit]
    outputs: { model: /out }
    inputs: { data: { from: prepare.data, path: /in } }
  all: { image: i, command: [all], inputs: { models: { from: fit.model, path: /in } } }
`;
    const other = await run(rig, grid('n', '[1, 2, 3]'));
    const later = await run(rig, grid('n', '[2, 3, 4]', 2));
    const found = await compare(rig, { run: later, other, step: 'fit' });
    expect(found).toMatchObject({ cellCount: 4, comparedCount: 4, groupCount: 3 });
    expect(found.groups).toMatchObject([
      { verdict: 'different', cellCount: 2, cells: ['n-2', 'n-3'] },
      { verdict: 'added', cells: ['n-4'], message: `only run ${later.runId} has these cells` },
      { verdict: 'removed', cells: ['n-1'], message: `only run ${other.runId} has these cells` },
    ]);
    expect(found.message).toBe(
      `of the cells of fit, compared with run ${other.runId}, 2 differ, 1 is new, 1 was removed; fit/n-2 differs from run ${other.runId} because its input 'data' differs: prepare differs: its variable SEED was '1', is '2'`,
    );
    const all = await compare(rig, { run: later, other, step: 'all' });
    expect(all.message).toContain(
      "because its input 'models' differs: 2 of the 3 cells of fit differ; 1 of the 3 cells of fit is new; 1 of the cells of fit was removed: fit/n-2 differs: its input 'data' differs: prepare differs",
    );
    const renamed = await run(rig, grid('size', '[1, 2, 3]'));
    const one = await compare(rig, { run: renamed, other, step: 'fit/size-2' });
    expect(one.places[0]).toMatchObject({ cell: 'size-2', otherCell: 'n-2', verdict: 'different' });
    expect(one.places[0]!.parts.map(({ message }) => message)).toEqual([
      "the value of its axis n was removed: it was '2'",
      "the value of its axis size is new: '2'",
      "its input 'data' differs",
    ]);
    const absent = await compare(rig, { run: later, other, step: 'fit/n-4' });
    expect(absent).toMatchObject({ cell: 'n-4', groups: [{ verdict: 'added' }] });
    expect(absent.message).toBe(
      `fit/n-4 cannot be compared: step fit of run ${other.runId} has no cell n-4; did you mean \`n-1\`?`,
    );
  });

  test('names the files of a source that differ, and says why it cannot', async () => {
    const rig = createRig('differ-source', { realTime: true });
    const base = await mkdtemp(join(tmpdir(), 'sluice-source-'));
    const text = `
volumes: { code: { source: code } }
steps:
  fit: { image: i, command: [fit], inputs: { code: { from: volumes.code/src, path: /code } } }
`;
    const write = async (files: Readonly<Record<string, string>>) => {
      await rm(join(base, 'code'), { recursive: true, force: true });
      await mkdir(join(base, 'code/src'), { recursive: true });
      for (const [name, content] of Object.entries(files)) await writeLocal(join(base, 'code', name), content);
      return run(rig, text, { baseDir: base });
    };
    const other = await write({ 'src/a.py': '1', 'src/b.py': '1', README: '1' });
    const later = await write({ 'src/a.py': '2', 'src/c.py': '1', README: '2' });
    const listFiles: SourceLister = async (_, volume) => {
      const list = await rig.go(
        readSourceFiles(createMemoryFiles(rig.simulated.volumes.get(volume.volumeID)!), volume.path),
      );
      return list === undefined ? fail('they were removed') : ok(list);
    };
    const found = await compare(rig, { run: later, other, step: 'fit', listFiles });
    const [part] = found.places[0]!.parts;
    expect(part).toMatchObject({
      ...{ kind: 'source', name: 'inputs.code', fileCount: 3 },
      files: [
        { path: 'src/a.py', kind: 'changed', before: hash('1'), after: hash('2') },
        { path: 'src/b.py', kind: 'removed', before: hash('1') },
        { path: 'src/c.py', kind: 'added', after: hash('1') },
      ],
    });
    expect(found.message).toBe(
      `fit differs from run ${other.runId} because the content of volume code/src in its input 'code' differs: src/a.py was changed, and 2 other files`,
    );
    const unknown = await compare(rig, { run: later, other, step: 'fit', listFiles: async () => fail('no login') });
    expect(unknown.message).toContain("its input 'code' differs; its files are not known: no login");
    await rm(base, { recursive: true });
  });

  test('names few of many cells', async () => {
    const rig = createRig('differ-many');
    const many = (word: string) => `
steps:
  list: { image: i, command: [list] }
  fit: { image: i, needs: [list], matrix: { n: [${Array.from({ length: 60 }, (_, n) => n)}] }, command: [${word}, "\${{ matrix.n }}"] }
`;
    const found = await compare(rig, { run: await run(rig, many('b')), other: await run(rig, many('a')), step: 'fit' });
    expect(found.groups).toMatchObject([{ cellCount: 60, cells: { length: 20 } }]);
    expect(found.places.length).toBe(2);
  });

  test('says what one run does not have, or does not know', async () => {
    const rig = createRig('differ-absent', { behave: { flaky: { end: 'Failed', exitCode: 3 } } });
    const other = await run(
      rig,
      `
steps:
  flaky: { image: i, command: [a] }
  after: { image: i, command: [b], needs: [flaky] }
`,
    );
    const later = await run(
      rig,
      `
steps:
  flaky: { image: i, command: [a] }
  after: { image: i, command: [b] }
  extra: { image: i, command: [b] }
`,
    );
    expect((await compare(rig, { run: later, other, step: 'extra' })).message).toBe(
      `extra cannot be compared: run ${other.runId} has no step extra; there are \`flaky\`, \`after\``,
    );
    const runs = [later, other].map(({ runId }) => ({ runId, pipeline: 'sample' }) as RunSummary);
    const known = (runId: string) => read(rig, runId).then(ok);
    expect((await findPreviousRun(later, { step: 'after', runs, read: known }))?.runId).toBe(other.runId);
    expect(await findPreviousRun(later, { step: 'extra', runs, read: known })).toBeUndefined();
    const steps = await rig.go(compareSteps(other, later, rig.options.clock));
    expect(steps.steps.at(-1)).toMatchObject({ step: 'extra', verdict: 'removed', cellCount: 1 });
    expect((await compare(rig, { run: later, other, step: 'extra', otherStep: 'flaky' })).otherStep).toBe('flaky');
    expect((await compare(rig, { run: later, other, step: 'after' })).message).toBe(
      `after was skipped (flaky did not succeed) in run ${other.runId}, but not in run ${later.runId}`,
    );
    expect((await compare(rig, { run: later, other, step: 'flaky' })).message).toBe(
      'flaky did the same work in both runs; its status is failed in both',
    );
  });

  test('says of a run in progress what has not been decided', async () => {
    const rig = createRig('differ-live');
    const other = await run(rig, chain(1));
    const parsed = parsePipeline({ file: 'p.yaml', text: `version: 1\nname: sample\n${chain(2)}` });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    const plan = createPlan(parsed.value.pipeline, { params: {} });
    if (!plan.ok) throw new Error(JSON.stringify(plan.error));
    const started = await rig.go(startRun({ ...rig.options, plan: plan.value, baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    await rig.until(() => rig.created().length > 0);
    const live = await read(rig, started.value.runId);
    const found = await compare(rig, { run: live, other, step: 'fit' });
    expect(found.groups).toMatchObject([{ verdict: 'unknown' }]);
    expect(found.message).toBe(
      `fit cannot be compared: in run ${live.runId}, it has not been decided (it waits for prepare)`,
    );
  });

  test('names the step that comes before and is in no input', async () => {
    const rig = createRig('differ-order');
    const text = (word: string) => `
steps:
  load: { image: i, command: [${word}] }
  fit: { image: i, command: [fit], needs: [load] }
`;
    const other = await run(rig, text('a'));
    const later = await run(rig, text('b'));
    expect((await compare(rig, { run: later, other, step: 'fit' })).message).toBe(
      `fit differs from run ${other.runId} because load, which comes before it, differs: load differs: its command was 'a', is 'b'`,
    );
  });
});

function writeResult(rig: Rig, container: { readonly volumeMounts?: object | undefined }): void {
  const key = Object.keys(container.volumeMounts ?? {}).find((mount) => mount.includes('_results'))!;
  const [volume = '', at = ''] = key.split(':');
  const rows = rig.created().filter(({ wire }) => wire.labels?.['sluice-step'] === 'count').length;
  writeFile(rig.simulated.volumes.get(volume)!, `${at}/rows`, Buffer.from(String(rows)));
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
