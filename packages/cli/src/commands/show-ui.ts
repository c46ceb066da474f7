import { ok } from '@sluice/core';
import {
  addMetrics,
  addRunApi,
  askHost,
  createHostMetrics,
  type HostMetrics,
  isLoopback,
  type Listener,
  type OpenHostedService,
  openListener,
  openRunApi,
  type RunApiOptions,
  type RunHost,
  shareServices,
} from '@sluice/host';
import { measureProcess } from '@sluice/host-system';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE, type ExitCode } from '../context/exit-code.ts';
import { readUserName } from '../context/read-user-name.ts';
import { reject } from '../context/reject.ts';
import { type AwaitedEnd, waitForEnd } from '../context/wait-for-end.ts';
import { prepareHome } from '../home/prepare-home.ts';
import { type ApiAccess, offerApi } from '../hosting/api-access.ts';
import { createRunExecutor } from '../hosting/create-run-executor.ts';
import { findHostedOptions } from '../hosting/find-hosted-options.ts';
import { startHostForMarked } from '../hosting/hand-to-host.ts';
import { linkToRun, openBrowser, removeLinkFile, removeLinkFiles } from '../hosting/open-browser.ts';
import { createServiceOpener, openHomeHost } from '../hosting/open-home-host.ts';
import { readDashboard } from '../hosting/read-dashboard.ts';
import { createHostWaitReporter } from '../hosting/report-host-wait.ts';
import { type HomeSchedules, runHomeSchedules } from '../hosting/run-home-schedules.ts';
import { renderValue } from '../json/render-value.ts';

/** Options of `sluice ui`. */
export interface UiOptions extends GlobalOptions {
  /** `ADDRESS:PORT`. */
  readonly listen: string;
  /** Open the page in the user's browser. */
  readonly open?: boolean;
  /** False: execute no runs and no schedules. */
  readonly runs: boolean;
  /** The run to show. Default: all. */
  readonly run?: string;
}

/** A process in the background that a command has started meanwhile is replaced, too, at most this often. */
const MAX_HOSTS = 5;

interface Given {
  readonly home: string;
  readonly context: CommandContext;
  readonly options: UiOptions;
  readonly log: (line: string) => void;
  readonly openService: OpenHostedService;
  readonly metrics: HostMetrics;
  /** Creates links to the page as soon as it is served. */
  readonly links: { create?: () => string };
  /** The link that this process has opened in the browser. */
  readonly opened: { link?: string };
}

/**
 * `sluice ui`: shows the runs of the home in a browser and executes the detached ones, and the schedules, until SIGINT or
 * SIGTERM. The first line is a link that works once; later lines describe what is executed.
 */
export async function showUi(context: CommandContext, options: UiOptions): Promise<number> {
  const rejectTo = (message: string) => reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
  const address = parseAddress(options.listen);
  if (address === undefined) {
    return rejectTo(
      `could not listen on ${options.listen}: expected a loopback address with a port, such as 127.0.0.1:7380`,
    );
  }
  const prepared = await prepareHome(context, options);
  if (!prepared.ok) return reject(prepared.error, { context, options });
  const home = prepared.value;
  const log = (line: string) => context.terminal.err(line);
  const signal = waitForEnd(context);
  const services = shareServices(createServiceOpener({ context, options, log, onFailure: signal.end }));
  const metrics = createHostMetrics();
  metrics.addHome(home);
  const given = { home, context, options, log, openService: services.open, metrics, links: {}, opened: {} };
  let host: RunHost | undefined;
  const leave = async () => {
    await host?.close();
    host = undefined;
    await startHostAgain(given);
  };
  try {
    const hosting = options.runs ? await openOnlyHost({ ...given, signal }) : { host: undefined };
    if ('fault' in hosting) {
      await leave();
      return hosting.fault === undefined ? EXIT_CODE.interrupted : rejectTo(hosting.fault);
    }
    if ('pid' in hosting) return await showOther(hosting, given);
    host = hosting.host;
    return await serve(address, { ...given, host, signal });
  } catch (error) {
    await leave();
    return rejectTo(`could not listen on ${options.listen}: ${describeSystemError(error)}`);
  } finally {
    signal.stop();
    await host?.close();
    await services.close();
  }
}

/** The process in the background was asked to end for this one: its runs need a process. */
async function startHostAgain({ home, context, log, options }: Given): Promise<void> {
  const started = options.runs ? await startHostForMarked(home, { context, options }) : ok(0);
  if (!started.ok) log(`warning: no process executes the detached runs of ${home}: ${started.error}`);
  else if (started.value > 0) log(`the detached runs of ${home} continue in the background`);
}

/** Another process that shows the runs of the home. */
interface OtherUi {
  readonly pid: number;
  readonly link: string;
}

/**
 * Hosts the runs instead of a background process, unless another `sluice ui` hosts them. Waits until a background process
 * has left its runs. An undefined fault: a signal ended the wait.
 */
async function openOnlyHost({
  openService,
  signal,
  ...given
}: Given & { readonly signal: AwaitedEnd }): Promise<
  { readonly host: RunHost } | OtherUi | { readonly fault: string | undefined }
> {
  const { home, links, log } = given;
  const ending = new AbortController();
  void signal.ended.then(() => ending.abort());
  const wait = {
    onWait: (waitedMs: number) =>
      log(`waiting for the process that hosts the runs of ${home} to leave them (${Math.round(waitedMs / 1000)} s)`),
    signal: ending.signal,
  };
  const createLink = () => links.create?.();
  const parts = { ...given, ...wait, isBackground: false, createLink, openService: leftOpen(openService) };
  const asking = { onWait: createHostWaitReporter(given.context.terminal, home) };
  let who = 'another process';
  for (let asked = 0; asked < MAX_HOSTS; asked++) {
    // A background process ends, and this one resumes its runs. A command may start another one at the same time.
    await askHost(home, { verb: 'end' }, asking);
    try {
      const host = await openHomeHost(parts);
      if (host !== undefined) return { host };
    } catch (error) {
      return { fault: ending.signal.aborted ? undefined : describeSystemError(error) };
    }
    const reply = await askHost(home, { verb: 'link' }, asking);
    const status = reply !== undefined && 'status' in reply ? reply : undefined;
    if (status?.link !== undefined) return { pid: status.status.pid, link: status.link };
    who = status === undefined ? who : `process ${status.status.pid}`;
    if (status?.status.isBackground === false) break;
  }
  const advice = 'end it, or show the runs only with: sluice ui --no-runs';
  return { fault: `could not execute the runs of ${home}: ${who} does; ${advice}` };
}

/** Prints a link to the process that shows the runs already; `--open` opens another. */
async function showOther({ pid, link }: OtherUi, { home, context, options, log }: Given): Promise<ExitCode> {
  printLink(link, { context, options });
  log(`process ${pid} shows the runs of ${home}`);
  const asking = { onWait: createHostWaitReporter(context.terminal, home) };
  const reply = options.open === true ? await askHost(home, { verb: 'link' }, asking) : undefined;
  if (reply !== undefined && 'link' in reply && reply.link !== undefined)
    await openBrowser(reply.link, { home, run: options.run, env: context.env, log });
  return EXIT_CODE.ok;
}

/** Services that also serve logs and files, and are closed after those. */
function leftOpen(openService: OpenHostedService): OpenHostedService {
  return async (options, env) => {
    const opened = await openService(options, env);
    return opened.ok ? ok({ ...opened.value, close: async () => {} }) : opened;
  };
}

async function serve(
  { host, port }: { readonly host: string; readonly port: number },
  given: Given & { readonly host: RunHost | undefined; readonly signal: AwaitedEnd },
): Promise<number> {
  const api = openRunApi(describeApi(given));
  const readProcess = measureProcess();
  const addRoutes = async (server: Parameters<typeof addRunApi>[0]) => {
    addMetrics(server, async () => [...readProcess(), ...(await given.metrics.read())]);
    await addRunApi(server, api);
  };
  // The browser has read it. It stays if that fails, until this process ends.
  const onLinkUsed = (link: string) => void removeLinkFile(given.home, link).catch(() => {});
  const listener = await openListener({ host, port, files: readDashboard(), addRoutes, onLinkUsed });
  let schedules: HomeSchedules | undefined;
  let access: ApiAccess | undefined;
  try {
    given.links.create = listener.createLink;
    // Before the link is printed: a reader of that line may use the API at once.
    if (given.host !== undefined) access = await offerApi(listener, given);
    await announce(listener, given);
    if (given.host !== undefined) schedules = runHomeSchedules(given);
    await given.signal.ended;
    return EXIT_CODE.ok;
  } finally {
    await removeLinks(given).catch(() => {});
    await access?.withdraw();
    await api.close();
    await listener.close();
    await schedules?.close();
  }
}

function describeApi({
  home,
  context,
  options,
  host,
  openService,
}: Given & { readonly host: RunHost | undefined }): RunApiOptions {
  return {
    ...{ home, userName: readUserName() },
    openService: async (runId) => {
      const opened = await openService(await findHostedOptions(home, runId), context.env);
      return opened.ok ? ok(opened.value.service) : opened;
    },
    ...(host && {
      executor: createRunExecutor({ home, context, options, host, openService }),
    }),
  };
}

async function announce(listener: Listener, { home, context, options, log, opened }: Given): Promise<void> {
  printLink(listener.createLink(), { context, options });
  if (options.open !== true) return;
  opened.link = listener.createLink();
  await openBrowser(opened.link, { home, run: options.run, env: context.env, log });
}

/** The links of this process are no longer valid. Those of other commands lead to the process that executes the runs. */
async function removeLinks({ home, host, opened }: Given & { readonly host: RunHost | undefined }): Promise<void> {
  if (host !== undefined) await removeLinkFiles(home);
  else if (opened.link !== undefined) await removeLinkFile(home, opened.link);
}

function printLink(link: string, { context, options }: Pick<Given, 'context' | 'options'>): void {
  const url = linkToRun(link, options.run);
  context.terminal.out(options.json === true ? renderValue('listener', { url }) : `${url}\n`);
}

function parseAddress(text: string): { host: string; port: number } | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  return host !== undefined && isLoopback(host) && port <= 65_535 ? { host, port } : undefined;
}
