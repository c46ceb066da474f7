import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HAS_CHROMIUM, launchChromium, openPage } from './browser-rig.ts';
import { createWorkplace, type Started, until, type Workplace } from './workplace-rig.ts';

let browser: Browser;
let place: Workplace;
let ui: Started;
let thief: ReturnType<typeof createServer>;
/** The path and the cookies of each request that the other server has received. */
let stolen: string[];

describe.skipIf(!HAS_CHROMIUM && process.env.CI !== 'true')('sluice ui in Chromium', () => {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    place = createWorkplace();
    writeFileSync(
      join(place.directory, 'pipeline.yaml'),
      'version: 1\nname: shown\nsteps:\n  a: { command: [echo, kept] }\n',
    );
    stolen = [];
    thief = createServer(({ url, headers }, reply) => {
      stolen.push(`${url} ${headers.cookie ?? 'without cookies'}`);
      reply.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title>');
    });
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    ui?.process.kill('SIGKILL');
    await ui?.ended;
    thief.closeAllConnections();
    await new Promise((resolve) => thief.close(resolve));
    place.remove();
  });

  test('the file of --open leads to the pages, and another port receives no cookie', async () => {
    expect((await place.sluice('run')).exitCode).toBe(0);
    const seen = join(place.directory, 'seen');
    const programs = join(place.directory, 'programs');
    mkdirSync(programs);
    const script = `#!/bin/sh\nprintf %s "$1" >'${seen}.new'\nmv '${seen}.new' '${seen}'\n`;
    writeFileSync(join(programs, 'xdg-open'), script, { mode: 0o755 });
    const env = { PATH: `${programs}:${process.env.PATH}` };
    ui = place.start(['ui', '--listen', '127.0.0.1:0', '--open'], { isEndless: true, env });
    await until(() => existsSync(seen), 'the browser');
    const { page, problems } = await openPage(browser);
    await page.goto(readFileSync(seen, 'utf8'));
    await page.getByRole('link', { name: 'shown', exact: true }).first().click();
    await page.getByRole('treeitem', { name: 'a' }).click();
    const { origin, pathname } = new URL(page.url());
    expect(pathname).toMatch(/^\/s\/[\w-]{43}\/$/);
    await page.reload();
    await page.getByRole('treeitem', { name: 'a' }).waitFor();
    // Events, which need a connection of their own, arrive: another run appears by itself.
    await page.goto(`${origin}${pathname}`);
    expect((await place.sluice('run')).exitCode).toBe(0);
    await until(async () => (await page.getByRole('link', { name: 'shown', exact: true }).count()) >= 2, 'the run');
    const { runId } = (await place.runs())[0]!;
    await page.goto(`${origin}${pathname}runs/${runId}`);
    await page.getByRole('treeitem', { name: 'a' }).waitFor();
    // A link that was used, and a page of no session, say what to do.
    for (const address of [`${origin}/`, `${origin}/?token=used`, `${origin}/runs/${runId}`]) {
      expect((await page.goto(address))?.status()).toBe(401);
      await page.getByText('Type sluice ui in a terminal').waitFor();
    }
    const { port } = thief.address() as AddressInfo;
    for (const path of ['/', '/s/', '/api/sluice/v1/runs']) await page.goto(`http://127.0.0.1:${port}${path}`);
    expect(stolen.filter((line) => !line.startsWith('/favicon'))).toEqual([
      '/ without cookies',
      '/s/ without cookies',
      '/api/sluice/v1/runs without cookies',
    ]);
    expect(problems).toEqual([]);
    await page.close();
  });
});
