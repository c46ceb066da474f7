import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { findHome } from '../home/home.ts';
import { startBrowser } from '../hosting/open-browser.ts';
import { renderValue } from '../json/render-value.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';

/**
 * `sluice open`: opens the page of a run in the browser. A server shows its own runs; the runs of the home are shown by the
 * `sluice ui` that does so already, else by this process, until it is interrupted.
 */
export async function openRun(
  prefix: string | undefined,
  context: CommandContext,
  options: GlobalOptions,
): Promise<number> {
  const { terminal, env } = context;
  const found = await selectShownRun(findHome(context, options), { prefix, context, options });
  if (!found.ok) return reject(found.error, { context, options });
  const { run, place } = found.value;
  if (place === undefined) {
    const { showUi } = await import('./show-ui.ts');
    const { home, json } = options;
    const shared = { ...(home !== undefined && { home }), ...(json !== undefined && { json }) };
    return showUi(context, { ...shared, listen: '127.0.0.1:0', open: true, runs: true, run: run.runId });
  }
  const page = readPage(place.runUrl);
  if (page === undefined) {
    const message = `could not open run ${run.runId}: ${place.service} executes it, and its page is not known`;
    return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
  }
  terminal.out(options.json === true ? renderValue('listener', { url: page }) : `${page}\n`);
  startBrowser(page, { env, log: (line) => terminal.err(line) });
  return EXIT_CODE.ok;
}

/** The address that a server has sent; only one that a browser shows as a page. */
function readPage(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) ? url.href : undefined;
}
