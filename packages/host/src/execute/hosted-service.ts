import type { ContainerService } from '@sluice/client';
import { ok, own, type Result } from '@sluice/core';
import type { Custody } from '@sluice/home';
import { createSharedPolls, type SharedPolls, type TraceSink } from '@sluice/runner';

/** What a hosted run needs of the caller that knows profiles and credentials. */
export interface HostedService {
  readonly service: ContainerService;
  /** One poll of an account serves all runs that use the service. */
  readonly polls?: SharedPolls;
  /** Receives the run as a trace. */
  readonly traces?: TraceSink;
  close(): Promise<void>;
}

/** With which the service of a hosted run is opened; the host passes them on without interpreting them. */
export type HostedOptions = Extract<Custody, { state: 'host' }>['options'];

/** Opens the service of a hosted run with the options of its custody. */
export type OpenHostedService = (
  options: HostedOptions,
  env: NodeJS.ProcessEnv,
) => Promise<Result<HostedService, string>>;

/** The variables that select a service and a collector of traces; other variables of a run are its secrets. */
const SELECTING = [
  ...['SLUICE_TOKEN', 'SLUICE_EMAIL', 'SLUICE_PASSWORD'],
  ...['SLUICE_OTLP', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS'],
];

/** The services of the hosted runs, each opened once for all runs with the same options and variables. */
export interface HostedServices {
  open: OpenHostedService;
  close(): Promise<void>;
}

/** A service that could not be opened is opened again by the next run that needs it. */
export function shareServices(openService: OpenHostedService): HostedServices {
  const opened = new Map<string, ReturnType<OpenHostedService>>();
  return {
    open(options, env) {
      const variables = SELECTING.map((name) => own(env, name));
      const key = JSON.stringify([Object.entries(options).sort(), variables]);
      const known = opened.get(key);
      if (known !== undefined) return known;
      const opening = openWithPolls(openService, options, env);
      opened.set(key, opening);
      opening.then(
        (result) => result.ok || opened.delete(key),
        () => opened.delete(key),
      );
      return opening;
    },
    async close() {
      const services = await Promise.all([...opened.values()]);
      await Promise.all(services.map((one) => (one.ok ? one.value.close() : undefined)));
    },
  };
}

async function openWithPolls(
  openService: OpenHostedService,
  ...given: Parameters<OpenHostedService>
): ReturnType<OpenHostedService> {
  const opened = await openService(...given);
  return opened.ok ? ok({ polls: createSharedPolls(), ...opened.value }) : opened;
}
