import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { waitForEnd } from '../context/wait-for-end.ts';
import { findHome } from '../home/home.ts';
import { createServiceOpener, openHomeHost } from '../hosting/open-home-host.ts';
import { plainLine } from '../text/plain-line.ts';

const KEEP_ALIVE_MS = 60_000;

/**
 * `sluice host`: executes the hosted runs of a home until the last has ended. Started in the background by
 * `sluice run --detach`; not meant to be called by users.
 */
export async function host(context: CommandContext, options: GlobalOptions): Promise<number> {
  const home = findHome(context, options);
  const log = (line: string) => context.terminal.out(`${new Date().toISOString()} ${plainLine(line)}\n`);
  const signal = waitForEnd(context);
  // Nothing else keeps the process alive while a run waits for a person.
  const alive = setInterval(() => {}, KEEP_ALIVE_MS);
  try {
    const openService = createServiceOpener({ context, options, log, onFailure: signal.end });
    const opened = await openHomeHost({ home, context, isBackground: true, openService, log });
    if (opened === undefined) return EXIT_CODE.ok;
    log(`process ${process.pid} hosts the runs of ${home}`);
    await Promise.race([opened.ended, signal.ended]);
    await opened.close();
    log('ended');
    return EXIT_CODE.ok;
  } finally {
    clearInterval(alive);
    signal.stop();
  }
}
