import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeHome } from '../../src/home/make-home.ts';
import { createServiceOpener, openHomeHost } from '../../src/hosting/open-home-host.ts';
import { createPrinter } from '../json/printed-values.ts';

const FILE = `
version: 1
name: alone
concurrency: { group: one, limit: 1, overlap: queue }
steps: { wait: { command: [sleep, "1000"] } }
`;
const TIMEOUT = { timeout: 300_000 };

let cwd: string;
let printer: ReturnType<typeof createPrinter>;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-waiting-'));
  writeFileSync(join(cwd, 'pipeline.yaml'), FILE);
  printer = createPrinter(cwd);
});

afterAll(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 10 }));

test('a detached run waits for its group, is canceled at once, and does not delay the end of its host', async () => {
  const place = {
    home: join(cwd, '.sluice'),
    context: printer.createContext(),
    options: {},
    log: () => {},
    onFailure: () => {},
  };
  await makeHome(place.home);
  const host = await openHomeHost({ ...place, isBackground: false, openService: createServiceOpener(place) });
  const listed = async (runId: string) => {
    const { values } = await printer.print(['runs']);
    const { status, executor } = values.find((value) => value.runId === runId) ?? {};
    return { status, executor };
  };
  const startDetached = async () => {
    const { exitCode, values, stderr } = await printer.print(['run', '--detach']);
    expect(exitCode, stderr).toBe(0);
    return String(values.at(-1)!.runId);
  };
  const first = await startDetached();
  await expect.poll(() => listed(first), TIMEOUT).toEqual({ status: 'running', executor: 'ui' });
  const second = await startDetached();
  await expect.poll(() => listed(second), TIMEOUT).toEqual({ status: 'waiting', executor: 'ui' });
  const canceled = await printer.print(['cancel', second]);
  expect(canceled.values).toMatchObject([{ type: 'cancellation', runId: second, status: 'running' }]);
  await expect.poll(() => listed(second), TIMEOUT).toEqual({ status: 'canceled', executor: 'none' });
  const third = await startDetached();
  await expect.poll(() => listed(third), TIMEOUT).toEqual({ status: 'waiting', executor: 'ui' });
  await host!.close();
  expect(await listed(third)).toEqual({ status: 'suspended', executor: 'none' });
  for (const runId of [first, third]) {
    await printer.print(['cancel', runId]);
    expect(await listed(runId)).toEqual({ status: 'canceled', executor: 'none' });
  }
}, 600_000);
