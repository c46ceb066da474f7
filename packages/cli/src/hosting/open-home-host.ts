import { fail, ok } from '@sluice/core';
import { type HostMetrics, type OpenHostedService, openRunHost, type RunHost } from '@sluice/host';
import { openService } from '../connect/open-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import type { HostedOptions } from './hosted-options.ts';

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
  home,
  context,
  log,
}: Pick<HomeHostOptions, 'home' | 'context' | 'log'>): OpenHostedService {
  return async (stored, env) => {
    const opened = await openService(readHostedOptions(stored, home), { ...context, env });
    if (!opened.ok) return fail(opened.error.message);
    for (const warning of opened.value.warnings ?? []) log(`warning: ${warning}`);
    return ok(opened.value);
  };
}

function readHostedOptions({ cpu, ...words }: HostedOptions, home: string): GlobalOptions {
  const texts = Object.fromEntries(Object.entries(words).map(([key, value]) => [key, String(value)]));
  return { ...texts, home, ...(cpu !== undefined && { cpu: Number(cpu) }) };
}
