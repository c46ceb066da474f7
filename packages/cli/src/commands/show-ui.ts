import { spawn } from 'node:child_process';
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
import { refuse } from '../context/refuse.ts';
import { waitForEnd } from '../context/wait-for-end.ts';
import { prepareHome } from '../home/prepare-home.ts';
import { type ApiAccess, offerApi } from '../hosting/api-access.ts';
import { createRunExecutor } from '../hosting/create-run-executor.ts';
import { findHostedOptions } from '../hosting/find-hosted-options.ts';
import { createServiceOpener, openHomeHost } from '../hosting/open-home-host.ts';
import { readDashboard } from '../hosting/read-dashboard.ts';
import { type HomeSchedules, runHomeSchedules } from '../hosting/run-home-schedules.ts';
import { renderValue } from '../json/render-value.ts';
import { runPipeline } from './run-pipeline.ts';

/** Options of `sluice ui`. */
export interface UiOptions extends GlobalOptions {
  /** `ADDRESS:PORT`. */
  readonly listen: string;
  /** Open the page in the user's browser. */
  readonly open?: boolean;
  /** False: execute no runs and no schedules. */
  readonly runs: boolean;
}

interface Given {
  readonly home: string;
  readonly context: CommandContext;
  readonly options: UiOptions;
  readonly log: (line: string) => void;
  readonly openService: OpenHostedService;
  readonly metrics: HostMetrics;
  /** Creates links to the page as soon as it is served. */
  readonly links: { create?: () => string };
}

/**
 * `sluice ui`: shows the runs of the home in a browser and executes the detached ones, and the schedules, until SIGINT or
 * SIGTERM. The first line is a link that works once; later lines describe what is executed.
 */
export async function showUi(context: CommandContext, options: UiOptions): Promise<number> {
  const refuseTo = (message: string) => refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  const address = parseAddress(options.listen);
  if (address === undefined) {
    return refuseTo(
      `could not listen on ${options.listen}: expected a loopback address with a port, such as 127.0.0.1:7380`,
    );
  }
  const prepared = await prepareHome(context, options);
  if (!prepared.ok) return refuse(prepared.error, { context, options });
  const home = prepared.value;
  const log = (line: string) => context.terminal.err(`${line}\n`);
  const services = shareServices(createServiceOpener({ home, context, log }));
  const metrics = createHostMetrics();
  metrics.addHome(home);
  const given = { home, context, options, log, openService: services.open, metrics, links: {} };
  const hosting = options.runs ? await openOnlyHost(given) : { host: undefined };
  if ('fault' in hosting) return refuseTo(hosting.fault);
  if ('pid' in hosting) return showOther(hosting, given);
  const { host } = hosting;
  try {
    return await serve(address, { ...given, host });
  } catch (error) {
    return refuseTo(`could not listen on ${options.listen}: ${describeSystemError(error)}`);
  } finally {
    await host?.close();
    await services.close();
  }
}

/** Another process that shows the runs of the home. */
interface OtherUi {
  readonly pid: number;
  readonly link: string;
}

/** Hosts the runs instead of a background process, unless another `sluice ui` hosts them. */
async function openOnlyHost({
  openService,
  ...given
}: Given): Promise<{ readonly host: RunHost } | OtherUi | { readonly fault: string }> {
  // A background process ends, and this one resumes its runs.
  const { home, links } = given;
  await askHost(home, { verb: 'end' });
  const createLink = () => links.create?.();
  const host = await openHomeHost({ ...given, isBackground: false, createLink, openService: leftOpen(openService) });
  if (host !== undefined) return { host };
  const reply = await askHost(home, { verb: 'link' });
  const status = reply !== undefined && 'status' in reply ? reply : undefined;
  if (status?.link !== undefined) return { pid: status.status.pid, link: status.link };
  const who = status === undefined ? 'another process' : `process ${status.status.pid}`;
  const advice = 'end it, or show the runs only with: sluice ui --no-runs';
  return { fault: `could not execute the runs of ${home}: ${who} does; ${advice}` };
}

/** Prints a link to the process that shows the runs already; `--open` opens another. */
async function showOther({ pid, link }: OtherUi, { home, context, options, log }: Given): Promise<ExitCode> {
  printLink(link, { context, options });
  log(`process ${pid} shows the runs of ${home}`);
  const reply = options.open === true ? await askHost(home, { verb: 'link' }) : undefined;
  if (reply !== undefined && 'link' in reply && reply.link !== undefined) openBrowser(reply.link, log);
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
  given: Given & { readonly host: RunHost | undefined },
): Promise<number> {
  const { context } = given;
  const signal = waitForEnd(context);
  const api = openRunApi(describeApi(given));
  const readProcess = measureProcess();
  const addRoutes = async (server: Parameters<typeof addRunApi>[0]) => {
    addMetrics(server, async () => [...readProcess(), ...(await given.metrics.read())]);
    await addRunApi(server, api);
  };
  const listener = await openListener({ host, port, files: readDashboard(), addRoutes });
  let schedules: HomeSchedules | undefined;
  let access: ApiAccess | undefined;
  try {
    given.links.create = listener.createLink;
    announce(listener, given);
    if (given.host !== undefined) {
      access = await offerApi(listener, given);
      schedules = runHomeSchedules(given);
    }
    await signal.ended;
    return EXIT_CODE.ok;
  } finally {
    await access?.withdraw();
    await api.close();
    await listener.close();
    await schedules?.close();
    signal.stop();
  }
}

function describeApi({
  home,
  context,
  host,
  openService,
}: Given & { readonly host: RunHost | undefined }): RunApiOptions {
  return {
    ...{ home, userName: readUserName() },
    openService: async (runId) => {
      const opened = await openService(await findHostedOptions(home, runId), context.env);
      return opened.ok ? ok(opened.value.service) : opened;
    },
    ...(host && { executor: createRunExecutor({ home, context, host, openService, submit: runPipeline }) }),
  };
}

function announce(listener: Listener, { context, options, log }: Given): void {
  printLink(listener.createLink(), { context, options });
  if (options.open === true) openBrowser(listener.createLink(), log);
}

function printLink(url: string, { context, options }: Pick<Given, 'context' | 'options'>): void {
  context.terminal.out(options.json === true ? renderValue('listener', { url }) : `${url}\n`);
}

/** The link is an argument of a process for a moment, so it is another one than that of the first line. */
function openBrowser(url: string, log: (line: string) => void): void {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  child.on('error', (error) =>
    log(`could not open the browser: ${describeSystemError(error)}; open the link yourself`),
  );
  child.unref();
}

function parseAddress(text: string): { host: string; port: number } | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  return host !== undefined && isLoopback(host) && port <= 65_535 ? { host, port } : undefined;
}
