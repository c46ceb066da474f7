import { fail, ok } from '@sluice/core';
import { type HostMetrics, type OpenHostedService, openRunHost, type RunHost } from '@sluice/host';
import type { HostedOptions } from '../connect/hosted-options.ts';
import { openService } from '../connect/open-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { wholeMessage } from '../context/command-rejection.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { selectHome } from '../home/home.ts';
import { onOneLine } from '../text/on-one-line.ts';

/** How a host of a home is opened. */
export interface HomeHostOptions {
  readonly home: string;
  readonly context: CommandContext;
  readonly isBackground: boolean;
  readonly openService: OpenHostedService;
  /** Receives one line, without its end. */
  readonly log: (line: string) => void;
  /** Creates a link to the page of this host. Default: it has none. */
  readonly createLink?: () => string | undefined;
  /** Called every few seconds while a host that is ending leaves its runs, with the duration of the wait so far. */
  readonly onWait?: (waitedMs: number) => void;
  /** Aborted: a wait for a host that is ending fails. */
  readonly signal?: AbortSignal;
  /** Measures the runs. Default: nothing does. */
  readonly metrics?: HostMetrics;
}

/** Hosts the runs of a home in this process. Undefined: another process does. */
export function openHomeHost({ context, ...options }: HomeHostOptions): Promise<RunHost | undefined> {
  return openRunHost({
    ...{ ...options, env: context.env },
    readSecret: (name, env) => createSecretReader(options.home, env)(name),
  });
}

/** Opens the services of hosted runs as commands with the same options do. */
export function createServiceOpener({
  context,
  options,
  log,
  onFailure,
}: Pick<HomeHostOptions, 'context' | 'log'> & {
  /** As the user has named the home. */
  readonly options: Pick<GlobalOptions, 'home'>;
  /** Called after a line that says so when this process can no longer use a service and must end. */
  readonly onFailure: () => void;
}): OpenHostedService {
  return async (stored, env) => {
    const opened = await openService({ ...readHostedOptions(stored), ...selectHome(options) }, { ...context, env });
    if (!opened.ok) return fail(wholeMessage(opened.error));
    for (const warning of opened.value.warnings ?? []) log(`warning: ${onOneLine(warning)}`);
    opened.value.service.onFailure?.(({ message }) => {
      log(`error: ${onOneLine(message)}; this process ends, and its runs can be resumed`);
      onFailure();
    });
    return ok(opened.value);
  };
}

function readHostedOptions({ cpu, ...words }: HostedOptions): GlobalOptions {
  const texts = Object.fromEntries(Object.entries(words).map(([key, value]) => [key, String(value)]));
  return { ...texts, ...(cpu !== undefined && { cpu: Number(cpu) }) };
}
