import { createService, createServiceLog, type Service } from '@sluice/service';
import type { CommandContext, GlobalOptions } from '../command-context.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { readServiceConfig } from '../read-service-config.ts';
import { refuse } from '../refuse.ts';

export interface ServeOptions extends GlobalOptions {
  readonly config: string;
  readonly logLevel: string;
}

/**
 * `sluice serve`: a v1rc1 service until SIGINT or SIGTERM; containers run on afterwards. SIGHUP has it read its
 * configuration again. Logs go to stderr as JSON lines.
 */
export async function serve(context: CommandContext, options: ServeOptions): Promise<number> {
  const config = readServiceConfig(options.config, context);
  if (!config.ok) return refuse(config.error, { context, options });
  const { listen } = config.value;
  if (listen.length === 0) {
    const message = `Could not serve: listen in ${options.config} names no address, for example {host: 127.0.0.1, port: 8080}`;
    return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  }
  const log = createServiceLog({ level: options.logLevel });
  const service = await createService({ config: config.value, log });
  const stopped = new Promise<void>((done) => {
    context.onSignal('SIGINT', done);
    context.onSignal('SIGTERM', done);
  });
  const reload = () => void reloadConfig(service, { context, options, log });
  const forget = context.onSignal('SIGHUP', reload);
  try {
    for (const address of listen) {
      const { url } = await service.listen(address);
      context.terminal.out(
        options.json === true ? `${JSON.stringify({ type: 'listening', url })}\n` : `listening on ${url}\n`,
      );
    }
    await stopped;
  } finally {
    forget();
    await service.close();
  }
  return EXIT_CODE.ok;
}

/** A wrong file changes nothing: the service goes on as it was. */
async function reloadConfig(
  service: Service,
  { context, options, log }: { context: CommandContext; options: ServeOptions; log: ServiceLog },
): Promise<void> {
  const config = readServiceConfig(options.config, context);
  if (!config.ok) return log.error({ problems: config.error.message }, 'the changed configuration was not taken');
  const { applied, needsRestart } = await service.reload(config.value);
  log.info({ applied }, 'the configuration was read again');
  if (needsRestart.length > 0) log.warn({ needsRestart }, 'what else has changed takes a restart; containers run on');
}

type ServiceLog = ReturnType<typeof createServiceLog>;
