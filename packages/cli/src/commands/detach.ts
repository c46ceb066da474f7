import { markHosted, readMark, unmarkHosted } from '@sluice/host';
import { detachRun } from '@sluice/runner';
import { selectHostedOptions } from '../connect/hosted-options.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal, refuse } from '../context/refuse.ts';
import { findHome } from '../home/home.ts';
import { announceHosted } from '../hosting/announce-hosted.ts';
import { findHostFault, handToHost } from '../hosting/hand-to-host.ts';
import { detachToServer } from '../remote/detach-to-server.ts';
import { selectRun } from '../runs/select-run.ts';

/** `sluice detach`: has the home's host execute a run, whether another process executes it now or none does. */
export async function detach(
  prefix: string | undefined,
  context: CommandContext,
  options: GlobalOptions,
): Promise<number> {
  const home = findHome(context, options);
  const found = await selectRun(home, {
    prefix,
    accept: ({ endedAt }) => endedAt === undefined,
    which: ' that has not ended',
    options,
  });
  if (!found.ok) return refuse(found.error, { context, options });
  const { runId, status, endedAt } = found.value;
  const toServer = endedAt === undefined ? await detachToServer(home, { runId, context, options }) : undefined;
  if (toServer !== undefined) return toServer;
  const fault = endedAt === undefined ? findHostFault(home) : `it has ended: ${status}`;
  if (fault !== undefined) {
    const message = `could not detach run ${runId}: ${fault}`;
    return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  }
  let before: Awaited<ReturnType<typeof readMark>>;
  // Marked first: if this process is killed, the next host resumes the run.
  try {
    before = await readMark(home, runId);
    await markHosted(home, runId, { options: selectHostedOptions(options, context) });
  } catch (error) {
    const message = `could not detach run ${runId}: ${describeSystemError(error)}; nothing has changed`;
    return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  }
  const left = await detachRun({ home, runId });
  if (!left.ok) {
    await (before ? markHosted(home, runId, before) : unmarkHosted(home, runId));
    return refuse(fromRunRefusal(left.error, { options, runId }), { context, options });
  }
  return announceHosted(await handToHost(home, { runId, context, options }), { runId, context, options });
}
