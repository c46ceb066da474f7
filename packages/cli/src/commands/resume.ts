import { ok } from '@sluice/core';
import { resumeRun } from '@sluice/runner';
import { openService, showWarnings } from '../connect/open-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal, refuse } from '../context/refuse.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { findHome } from '../home/home.ts';
import { createProgress } from '../progress/create-progress.ts';
import { followRun } from '../runs/follow-run.ts';
import { selectRun, selectUnlistedRun } from '../runs/select-run.ts';

/** Options of `sluice resume`. */
export interface ResumeOptions extends GlobalOptions {
  /** Detach from a run that only waits for an approval. */
  readonly stopAtApproval?: boolean;
}

/** `sluice resume`: continues a suspended run and follows it. No container is started twice. */
export async function resume(
  prefix: string | undefined,
  context: CommandContext,
  options: ResumeOptions,
): Promise<number> {
  const home = findHome(context, options);
  const found = await selectRun(home, {
    prefix,
    accept: ({ status }) => status === 'suspended',
    which: ' that is suspended',
    options,
  });
  const chosen = found.ok
    ? ok(found.value.runId)
    : selectUnlistedRun(home, { prefix, options, otherwise: found.error });
  if (!chosen.ok) return refuse(chosen.error, { context, options });
  const runId = chosen.value;
  const opened = await openService(options, context);
  if (!opened.ok) return refuse(opened.error, { context, options });
  showWarnings(opened.value, context);
  const { service, close } = opened.value;
  try {
    const progress = createProgress(context.terminal, options);
    const secrets = createSecretReader(home, context.env);
    const resumed = await resumeRun({
      runId,
      service,
      home,
      secrets,
      reporter: progress,
      leavesForPeople: options.stopAtApproval === true,
    });
    if (!resumed.ok) {
      progress.close();
      const refusal = fromRunRefusal(resumed.error, { options, runId });
      // The run stays suspended, unlike one that could not start.
      const exitCode = resumed.error.code === 'GROUP_BUSY' ? EXIT_CODE.suspended : refusal.exitCode;
      return refuse({ ...refusal, exitCode }, { context, options });
    }
    return await followRun(resumed.value, { context, progress, options });
  } finally {
    await close();
  }
}
