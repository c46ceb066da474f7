import { cancelRun } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../command-context.ts';
import { createSecretReader } from '../create-secret-reader.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { findRun } from '../find-run.ts';
import { findHome } from '../home.ts';
import { nameUser } from '../name-user.ts';
import { openService } from '../open-service.ts';
import { createProgress } from '../progress/create-progress.ts';
import { fromRunner, refuse } from '../refuse.ts';
import { renderReport } from '../render-report.ts';

/** `sluice cancel`: ends a run that is under way or stands still; `finally` steps still run. */
export async function cancel(
  prefix: string | undefined,
  context: CommandContext,
  options: GlobalOptions,
): Promise<number> {
  const { terminal } = context;
  const home = findHome(context, options);
  const found = await findRun(home, {
    prefix,
    accept: ({ status }) => status === 'active' || status === 'suspended',
    which: ' that is not over',
    options,
  });
  if (!found.ok) return refuse(found.error, { context, options });
  const opened = await openService(options, context);
  if (!opened.ok) return refuse(opened.error, { context, options });
  const { service, close } = opened.value;
  const { runId } = found.value;
  try {
    const progress = createProgress(terminal, options);
    const secrets = createSecretReader(home, context.env);
    const canceled = await cancelRun({ runId, service, home, secrets, reporter: progress, by: nameUser() });
    progress.close();
    if (!canceled.ok) return refuse(fromRunner(canceled.error, { options, runId }), { context, options });
    if (options.json === true) return EXIT_CODE.ok;
    terminal.out(
      canceled.value === undefined
        ? `run ${runId} is being canceled\n`
        : renderReport(canceled.value, { terminal, cwd: context.cwd, options }),
    );
    return EXIT_CODE.ok;
  } finally {
    await close();
  }
}
