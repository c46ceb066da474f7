import { createPlan, type Plan, parsePipeline } from '@sluice/core';
import { parseJournal } from '@sluice/home';
import type { JournalRecord } from '@sluice/run';
import { startRun } from '../../src/run/start-run.ts';
import { writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const PIPELINE = `version: 1
name: sample
steps:
  list: { command: [x], results: { items: array } }
  each: { foreach: "\${{ steps.list.results.items }}", command: [x, "\${{ item }}"] }
  grid: { image: "image:\${{ matrix.n }}", command: [x], matrix: { n: [1, 2, 3] }, parallelism: 2, retry: { limit: 1, backoff: { initial: 1s } } }
  flaky: { command: [x], retry: { limit: 2, backoff: { initial: 1s } }, continueOnError: true }
  none: { command: [x], foreach: [] }
  never: { command: [x], needs: { flaky: failed }, when: "\${{ false }}" }
  after: { command: [x], needs: [each, grid, none] }
finally:
  last: { command: [x] }
`;

/** A run in the simulated world with every kind of step, as the runner has recorded it. */
export interface SampleRun {
  readonly runId: string;
  readonly plan: Plan;
  readonly rig: Rig;
  readonly directory: string;
  readonly journal: Uint8Array;
  readonly records: readonly JournalRecord[];
}

export async function recordSampleRun(): Promise<SampleRun> {
  const parsed = parsePipeline({ file: 'p.yaml', text: PIPELINE });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params: {} });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  const rig: Rig = createRig('sample', {
    behave: {
      flaky: { end: 'Failed', exitCode: 3 },
      list: {
        work(container) {
          const key = Object.keys(container.volumeMounts ?? {}).find((mount) => mount.includes('_results'))!;
          const [volume = '', at = ''] = key.split(':');
          writeFile(rig.simulated.volumes.get(volume)!, `${at}/items`, Buffer.from('["a", "b", "c"]'));
        },
      },
    },
  });
  const started = await rig.go(startRun({ ...rig.options, plan: plan.value, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.go(started.value.finished);
  const { runId } = started.value;
  const directory = `/home/runs/${runId}`;
  const journal = rig.disk.files.get(`${directory}/journal.ndjson`)!;
  const content = parseJournal(journal);
  if (!content.ok) throw new Error(content.error);
  return { runId, plan: plan.value, rig, directory, journal, records: content.value.records };
}
