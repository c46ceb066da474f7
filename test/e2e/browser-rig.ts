import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContainerService } from '@sluice/client';
import { addRunApi, openRunApi, readStaticFiles } from '@sluice/host';
import { createService, EMBEDDED_SCOPE, embeddedConfig } from '@sluice/service';
import axe from 'axe-core';
import Fastify from 'fastify';
import { type Browser, chromium, type Page } from 'playwright-core';

const DIST = fileURLToPath(new URL('../../packages/dashboard/dist', import.meta.url));
/** Nothing inline, and nothing from elsewhere. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const WAIT_MS = 300_000;

/** The first needs less than half of the processor time. */
const FIND = 'command -v chromium-headless-shell || command -v chromium';
const CHROMIUM = spawnSync('sh', ['-c', FIND], { encoding: 'utf8' }).stdout.trim();
/** Whether Debian's Chromium is here. */
export const HAS_CHROMIUM: boolean = CHROMIUM !== '';

/** A server with the run API and the dashboard of a home, which no other process may use through its service. */
export interface ServedDashboard {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves a home. `hasService`: opens its service, for logs and files; then no run may execute. `port`: 0 for a free one. */
export async function serveDashboard(home: string, { hasService = false, port = 0 } = {}): Promise<ServedDashboard> {
  const server = Fastify({ forceCloseConnections: true });
  const service = hasService
    ? await createService({ config: embeddedConfig({ root: join(home, 'service') }) })
    : undefined;
  const inProcess = service?.inProcess({ userId: 'test', accounts: [EMBEDDED_SCOPE] }) as unknown as ContainerService;
  const openService = async () => ({ ok: true, value: inProcess }) as const;
  const api = openRunApi({ home, userName: 'tester', ...(service === undefined ? {} : { openService }) });
  await addRunApi(server, api);
  for (const [path, { bytes, type }] of readStaticFiles(DIST))
    server.get(path === '/index.html' ? '/' : path, (_, reply) =>
      reply.type(type).header('content-security-policy', POLICY).send(bytes),
    );
  return {
    url: await server.listen({ host: '127.0.0.1', port }),
    async close() {
      await api.close();
      await server.close();
      await service?.close();
    },
  };
}

/** Starts Chromium without a window. `extra`: further options of its command line. */
export function launchChromium(extra: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', ...extra],
    timeout: WAIT_MS,
  });
}

/** A page that collects what goes wrong in it: exceptions, and what the policy has blocked. */
export async function openPage(browser: Browser, options: { width?: number; colorScheme?: 'light' | 'dark' } = {}) {
  const { width = 1_400, colorScheme = 'light' } = options;
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  page.setDefaultTimeout(WAIT_MS);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/i.test(message.text())) problems.push(message.text());
  });
  return { page, problems };
}

/** What axe-core finds in the present page, as text. `rules`: only these. */
export async function findBarriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  const violations = await page.evaluate(async (runOnly) => {
    type Finding = { id: string; nodes: { html: string }[] };
    type Options = { resultTypes: string[]; runOnly?: readonly string[] };
    const { axe } = globalThis as unknown as { axe: { run(options: Options): Promise<{ violations: Finding[] }> } };
    return (await axe.run({ resultTypes: ['violations'], ...(runOnly && { runOnly }) })).violations;
  }, rules);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
