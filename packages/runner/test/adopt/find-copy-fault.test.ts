import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ContainerService } from '@sluice/client';
import { createSystemDisk, encodeLine, writePlan } from '@sluice/home';
import type { JournalRecord } from '@sluice/run';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { findCopyFault } from '../../src/adopt/find-copy-fault.ts';

const RUN = 'aaaaaaaaaaaaa';
const DAY = 86_400_000;
let home: string;

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'sluice-copy-'));
});

afterEach(() => rm(home, { recursive: true, force: true }));

/** Of a service without containers. */
async function find(at: number): Promise<string | undefined> {
  const directory = path.join(home, 'runs', RUN);
  await mkdir(directory, { recursive: true });
  await writePlan(createSystemDisk(), directory, createHandPlan([createStep('make')]));
  const scope = { clusterID: 'main', accountID: 'physics' };
  const header = { kind: 'run', runId: RUN, pipeline: 'p', format: 2, at, scheduler: { parallelism: 1 }, ...scope };
  const line = encodeLine({ seq: 1, first: 1, epoch: 1, record: header as unknown as JournalRecord });
  await writeFile(path.join(directory, 'journal.ndjson'), line);
  const list = async function* () {};
  return findCopyFault({ home, runId: RUN, service: { containers: { list } } as unknown as ContainerService });
}

test('a copy is not continued if the service has no container of the run', async () => {
  expect(await find(Date.now() - 5 * DAY)).toBe('the service has none of its containers either');
});

test('a copy is not continued if the service may have deleted containers that were started since', async () => {
  expect(await find(Date.now() - 9 * DAY)).toMatch(
    /^the last record of this home's copy is 9 days old, and a service keeps/,
  );
});

test('a copy that cannot be read is not continued', async () => {
  const service = {} as unknown as ContainerService;
  expect(await findCopyFault({ home, runId: RUN, service })).toContain(RUN);
});
