import { keepRecordedService } from '../connect/keep-recorded-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { reject } from '../context/reject.ts';
import { findHome } from '../home/home.ts';
import { handOver } from '../hosting/hand-over.ts';
import { announceHanded } from '../runs/handed-run.ts';
import { selectUnended } from '../runs/select-run.ts';

/** `sluice detach`: has the home's host execute a run, whether another process executes it now or none does. */
export async function detach(
  prefix: string | undefined,
  context: CommandContext,
  options: GlobalOptions,
): Promise<number> {
  const home = findHome(context, options);
  const found = await selectUnended(home, { verb: 'detach', prefix, cwd: context.cwd, options });
  if (!found.ok) return reject(found.error, { context, options });
  const { runId } = found.value;
  const reached = await keepRecordedService(home, runId, options);
  const handed = await handOver(found.value, { home, runId, context, options: reached });
  return handed.ok ? announceHanded(handed.value, { context, options }) : reject(handed.error, { context, options });
}
