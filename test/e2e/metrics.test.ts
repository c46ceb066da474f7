import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, serveNew } from './served-rig.ts';
import { createWorkplace, parseLines, type Started, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `
version: 1
name: brief
steps:
  brief: { command: [sleep, '1'] }
`;
const DASHBOARD = new URL('../../docs/grafana/sluice.json', import.meta.url);

const PAGE = new URL('../../docs/monitoring.md', import.meta.url);

let place: Workplace;
let server: Server;
let ui: Started;
/** What `ui` and `serve` serve. */
let scrapes: readonly string[];

beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  server = await serveNew(place);
  ui = place.start(['ui', '--listen', '127.0.0.1:0', '--json'], { isEndless: true });
  await until(() => ui.stdout().includes('\n'), 'the link');
  const { origin } = new URL(parseLines<{ url: string }>(ui.stdout())[0]!.url);
  expect((await place.sluice('run', '--detach')).exitCode).toBe(0);
  const hasEnded = async () => /^sluice_runs_finished_total.* 1$/m.test(await scrape(origin));
  await until(hasEnded, 'the end of the run');
  // The first scrape is a request that the second one counts.
  await scrape(server.url);
  scrapes = [await scrape(origin), await scrape(server.url)];
});

afterAll(async () => {
  ui?.process.kill('SIGKILL');
  await Promise.all([ui?.ended, server?.kill()]);
  place?.remove();
});

const scrape = async (url: string) => (await fetch(new URL('/metrics', url))).text();

test('a host counts its runs and the calls to their service', () => {
  const [host] = scrapes;
  for (const line of [
    'sluice_runs{status="succeeded"} 1',
    'sluice_runs_finished_total{status="succeeded"} 1',
    'sluice_runs_executing 0',
    'sluice_service_calls_total{call="containers.create",reply="ok"} 1',
  ]) {
    expect(host).toContain(`\n${line}\n`);
  }
});

const promtool = spawnSync('promtool', ['--version']).status === 0;
test.skipIf(!promtool && process.env.CI !== 'true')('promtool finds nothing wrong', () => {
  for (const input of scrapes) {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    expect({ status, output: `${stdout}${stderr}` }).toEqual({ status: 0, output: '' });
  }
});

const namesIn = (text: string) =>
  [...text.matchAll(/\b(?:sluice|process)_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''));

test('every metric of the dashboard for Grafana exists, and the page about monitoring lists all', () => {
  const known = new Set(scrapes.flatMap((text) => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!)));
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: { targets?: { expr: string }[] }[] };
  const used = panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr)));
  expect(used.length).toBeGreaterThan(10);
  for (const name of used) expect(known).toContain(name);
  expect(new Set(namesIn(readFileSync(PAGE, 'utf8')))).toEqual(known);
});
