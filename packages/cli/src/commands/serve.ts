import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createService, serviceConfigSchema } from '@sluice/service';
import { parse } from 'yaml';
import { z } from 'zod';
import type { CommandContext, GlobalOptions } from '../command-context.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { refuse } from '../refuse.ts';

export interface ServeOptions extends GlobalOptions {
  readonly config: string;
}

/** `sluice serve`: a v1rc1 service until SIGINT or SIGTERM; containers run on afterwards. */
export async function serve(context: CommandContext, options: ServeOptions): Promise<number> {
  const path = resolve(context.cwd, options.config);
  const refused = (reason: string) =>
    refuse({ exitCode: EXIT_CODE.refused, message: `Could not use ${path}: ${reason}` }, { context, options });
  let value: unknown;
  try {
    value = parse(readFileSync(path, 'utf8'), { maxAliasCount: 0 });
  } catch (error) {
    return refused((error as Error).message);
  }
  const config = serviceConfigSchema.safeParse(value);
  if (!config.success) return refused(z.prettifyError(config.error));
  if (config.data.listen.length === 0)
    return refused('listen: it names no address, for example {host: 127.0.0.1, port: 8080}');
  const service = await createService({ config: config.data });
  const stopped = new Promise<void>((done) => {
    context.onSignal('SIGINT', done);
    context.onSignal('SIGTERM', done);
  });
  for (const address of config.data.listen) {
    const { url } = await service.listen(address);
    context.terminal.out(
      options.json === true ? `${JSON.stringify({ type: 'listening', url })}\n` : `listening on ${url}\n`,
    );
  }
  await stopped;
  await service.close();
  return EXIT_CODE.ok;
}
