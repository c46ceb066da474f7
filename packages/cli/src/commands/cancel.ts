import { cancelRun } from '@sluice/runner';
import { openService } from '../connect/open-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { readUserName } from '../context/read-user-name.ts';
import { fromRunRefusal, refuse } from '../context/refuse.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { findHome } from '../home/home.ts';
import { createProgress } from '../progress/create-progress.ts';
import { renderReport } from '../render/render-report.ts';
import { selectRun } from '../runs/select-run.ts';

/** `sluice cancel`: cancels a run that is in progress or suspended; `finally` steps still run. */
export async function cancel(
  prefix: string | undefined,
  context: CommandContext,
  options: GlobalOptions,
): Promise<number> {
  const { terminal } = context;
  const home = findHome(context, options);
  const found = await selectRun(home, {
    prefix,
    accept: ({ status }) => status === 'active' || status === 'suspended',
    which: ' that has not ended',
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
    const canceled = await cancelRun({ runId, service, home, secrets, reporter: progress, by: readUserName() });
    progress.close();
    if (!canceled.ok) return refuse(fromRunRefusal(canceled.error, { options, runId }), { context, options });
    if (options.json === true) return EXIT_CODE.ok;
    terminal.out(
      canceled.value === undefined
        ? `canceling run ${runId}\n`
        : renderReport(canceled.value, { terminal, cwd: context.cwd, options }),
    );
    return EXIT_CODE.ok;
  } finally {
    await close();
  }
}
