import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { selectHostedEnv } from '../connect/hosted-options.ts';
import { describeSystemError } from '../context/describe-system-error.ts';

/** How the browser is started. */
interface BrowserOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
}

/** How a link is opened. */
interface LinkOptions extends BrowserOptions {
  readonly home: string;
  /** The run that is shown. Default: all runs. */
  readonly run?: string | undefined;
}

/** The link to the page of a run. */
export function linkToRun(link: string, run: string | undefined): string {
  return run === undefined ? link : `${link}&run=${run}`;
}

/**
 * Opens a link in the user's browser. All users of a machine can read the arguments of its processes, so the argument is a
 * file that only this user can read, and that leads to the link. `removeLinkFile` removes it.
 */
export async function openBrowser(link: string, { home, run, ...options }: LinkOptions): Promise<void> {
  try {
    const file = linkFile(home, link);
    await mkdir(directoryOf(home), { recursive: true, mode: 0o700 });
    await writeFile(file, renderPage(linkToRun(link, run)), { mode: 0o600, flag: 'wx' });
    startBrowser(pathToFileURL(file).href, options);
  } catch (error) {
    advise(error, options);
  }
}

/** Starts the user's browser at an address without secrets. */
export function startBrowser(address: string, { env, log }: BrowserOptions): void {
  const secrets = selectHostedEnv(env);
  const child = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [address], {
    stdio: 'ignore',
    detached: true,
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !Object.hasOwn(secrets, name))),
  });
  child.on('error', (error) => advise(error, { log }));
  child.unref();
}

function advise(error: unknown, { log }: Pick<BrowserOptions, 'log'>): void {
  log(`could not open the browser: ${describeSystemError(error)}; open the link yourself`);
}

/** Removes the file of a link. There may be none. */
export function removeLinkFile(home: string, link: string): Promise<void> {
  return rm(linkFile(home, link), { force: true });
}

/** Removes the files of all links of a home, which are no longer valid. */
export function removeLinkFiles(home: string): Promise<void> {
  return rm(directoryOf(home), { recursive: true, force: true });
}

/** Not a temporary directory: some browsers have one of their own. */
function directoryOf(home: string): string {
  return join(home, 'host', 'links');
}

function linkFile(home: string, link: string): string {
  return join(directoryOf(home), `${createHash('sha256').update(link).digest('hex').slice(0, 32)}.html`);
}

/** A link consists of characters that need no escapes in HTML. */
function renderPage(link: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${link}">
<title>Sluice</title>
`;
}
