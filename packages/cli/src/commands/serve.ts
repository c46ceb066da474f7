import { createService } from '@sluice/service';
import { pino } from 'pino';
import type { CommandContext, GlobalOptions } from '../command-context.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { readServiceConfig } from '../read-service-config.ts';
import { refuse } from '../refuse.ts';

export interface ServeOptions extends GlobalOptions {
  readonly config: string;
  readonly logLevel: string;
}

/** `sluice serve`: a v1rc1 service until SIGINT or SIGTERM; containers run on afterwards. Logs go to stderr as JSON lines. */
export async function serve(context: CommandContext, options: ServeOptions): Promise<number> {
  const config = readServiceConfig(options.config, context);
  if (!config.ok) return refuse(config.error, { context, options });
  const { listen } = config.value;
  if (listen.length === 0) {
    const message = `Could not serve: listen in ${options.config} names no address, for example {host: 127.0.0.1, port: 8080}`;
    return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  }
  const log = pino({ level: options.logLevel }, pino.destination(2));
  const service = await createService({ config: config.value, log });
  const stopped = new Promise<void>((done) => {
    context.onSignal('SIGINT', done);
    context.onSignal('SIGTERM', done);
  });
  try {
    for (const address of listen) {
      const { url } = await service.listen(address);
      context.terminal.out(
        options.json === true ? `${JSON.stringify({ type: 'listening', url })}\n` : `listening on ${url}\n`,
      );
    }
    await stopped;
  } finally {
    await service.close();
  }
  return EXIT_CODE.ok;
}
