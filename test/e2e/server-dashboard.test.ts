import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBarriers, HAS_CHROMIUM, launchChromium, openPage } from './browser-rig.ts';
import { addUser, administer, CREDENTIALS, configure, type Server, serve } from './served-rig.ts';
import { createWorkplace, parseLines, type Workplace } from './workplace-rig.ts';

const PIPELINE = `
version: 1
name: two
steps:
  first: { script: 'echo hello from the server; seq -f line-%.0f 200000' }
  gate: { approval: { message: go on }, needs: [first] }
  second: { command: [sleep, "600"], needs: [gate] }
`;
const OTHER_USER = 'b@example.org';
/** Is not a loopback address to the browser, so that the page has only what pages without TLS have. */
const NAME = 'sluice.test';

let browser: Browser;
let place: Workplace;
let server: Server;

describe.skipIf(!HAS_CHROMIUM && process.env.CI !== 'true')('the dashboard of a server in Chromium', () => {
  beforeAll(async () => {
    place = createWorkplace();
    writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
    // The log of the first step is larger.
    configure(place, { extra: 'logs: { max: 1MB }' });
    await addUser(place, 'main/physics');
    await administer(place, 'add', OTHER_USER);
    [server, browser] = await Promise.all([
      serve(place),
      launchChromium([`--host-resolver-rules=MAP ${NAME} 127.0.0.1`]),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.kill();
    place.remove();
  });

  test('a login leads to the wanted run, which is followed, approved and canceled there', async () => {
    const runId = await submit();
    const { page, problems } = await openPage(browser);
    const { origin } = pages();
    await page.goto(`${origin}/ui/main/physics/#/runs/${runId}`);
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await logIn(page, CREDENTIALS.SLUICE_EMAIL, 'wrong');
    await page.getByRole('alert').getByText('the password is wrong').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await logIn(page, CREDENTIALS.SLUICE_EMAIL);
    await page.getByRole('treeitem', { name: 'gate' }).click();
    expect(new URL(page.url()).pathname).toBe('/ui/main/physics/');
    await page.getByText('1 succeeded, 1 awaiting approval').first().waitFor();
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Approve' }).click();
    await dialog.getByText(/sluice approve/).waitFor();
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByRole('button', { name: 'Selected' }).waitFor();
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('2 succeeded, 1 running').first().waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await dialog.getByRole('button', { name: 'Cancel the run' }).click();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.locator('.run-status', { hasText: 'canceled' }).waitFor();
    await page.goto(`${origin}/ui/main/physics/#/runs/${runId}/steps/first/cells/0?tab=log`);
    await page.getByText('hello from the server').waitFor();
    await readCutLog(page);
    expect(await findBarriers(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('the accounts are listed, nothing of others is shown, and a logout ends the session', async () => {
    const runId = await submit();
    const { page, problems } = await openPage(browser, { width: 400, colorScheme: 'dark' });
    const { origin, run } = pages(runId);
    await page.goto(`${origin}/ui/`);
    await logIn(page, CREDENTIALS.SLUICE_EMAIL);
    await page.getByRole('link', { name: 'main/physics' }).click();
    await page.getByRole('link', { name: 'two', exact: true }).first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    const session = await readSession(page.context());
    // The account in the navigation leads to the list, which has the logout.
    await page.getByRole('link', { name: 'main/physics' }).click();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    const headers = { cookie: `sluice-session=${session}` };
    expect((await fetch(`${server.url}/ui/main/physics/api/sluice/v1/runs`, { headers })).status).toBe(401);

    await logIn(page, OTHER_USER);
    await page.getByText('You have no account on this server').waitFor();
    for (const url of [`${origin}/ui/main/physics/`, run, `${origin}/ui/main/nothere/`]) {
      await page.goto(url);
      await page.reload();
      await page.getByText('could not use this account on this cluster because it is not yours').first().waitFor();
      expect(await page.getByText('two').count()).toBe(0);
    }
    expect(problems).toEqual([]);
    await page.close();
  });
});

/** The launcher writes it in two lines, the first before the end of the command. */
const CUT =
  /\n\[sluice\] the log has reached its limit of \d+ bytes; (?:[^\n]+\n\[sluice\] )?(\d+) bytes were left out here\n/;

/** The log of the first step begins and ends as it was written; behind the cut, its lines are counted from there. */
async function readCutLog(page: Page): Promise<void> {
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).click();
  const downloaded = readFileSync(await (await downloading).path(), 'utf8');
  const written = `hello from the server\n${Array.from({ length: 200_000 }, (_, at) => `line-${at + 1}\n`).join('')}`;
  const [beginning = '', leftOut, end = ''] = downloaded.split(CUT);
  expect([written.startsWith(beginning), written.endsWith(end)]).toEqual([true, true]);
  expect(beginning.length + Number(leftOut) + end.length).toBe(written.length);
  const lines = downloaded.trimEnd().split('\n');
  const cut = lines.findIndex((line) => line.endsWith('bytes were left out here'));
  expect([cut > 1_000, lines.length - cut > 1_000, lines.at(-1)]).toEqual([true, true, 'line-200000']);
  const shown = page.locator('.line');
  const numbered = (label: string, text: string) =>
    shown
      .filter({ hasText: `${label}${text}` })
      .first()
      .waitFor();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await numbered(`+${lines.length - 1 - cut}`, 'line-200000');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByRole('searchbox', { name: 'Search the log' }).fill('bytes were left out here');
  await page.keyboard.press('Enter');
  await page.locator('.line.found').filter({ hasText: 'bytes were left out here' }).waitFor();
  await numbered(`${cut - 1}`, lines[cut - 2]!);
  await numbered('+2', lines[cut + 2]!);
  // The link has the place in the log.
  const [wanted, text] = [cut + 501, lines[cut + 500]!];
  await page.goto(`${page.url()}&attempt=1&line=${wanted}`);
  await page.locator('.line.found').filter({ hasText: text }).waitFor();
  expect(await page.getByRole('link', { name: 'Link to line +500' }).getAttribute('href')).toContain(`line=${wanted}`);
}

/** Hands a run over to the server; its ID. */
async function submit(): Promise<string> {
  const command = ['run', '--service', server.url, '--detach', '--json'];
  const { exitCode, stdout, stderr } = await place.start(command, { env: CREDENTIALS }).ended;
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return parseLines<{ type: string; runId: string }>(stdout).at(-1)!.runId;
}

function pages(runId = '') {
  const origin = `http://${NAME}:${new URL(server.url).port}`;
  return { origin, run: `${origin}/ui/main/physics/#/runs/${runId}` };
}

async function logIn(page: Page, email: string, password = CREDENTIALS.SLUICE_PASSWORD): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

async function readSession(context: BrowserContext): Promise<string> {
  const cookie = (await context.cookies()).find(({ name }) => name === 'sluice-session');
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/ui' });
  return cookie!.value;
}
