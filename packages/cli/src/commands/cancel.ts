import { cancelRun, requestCancel } from '@sluice/runner';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { readUserName } from '../context/read-user-name.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { findHome } from '../home/home.ts';
import { renderValue } from '../json/render-value.ts';
import { createProgress } from '../render/create-progress.ts';
import { renderReport } from '../render/render-report.ts';
import { actOnServer } from '../runs/act-on-server.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';

/** `sluice cancel`: cancels a run that is in progress or suspended; `finally` steps still run. */
export async function cancel(
  prefix: string | undefined,
  context: CommandContext,
  options: GlobalOptions,
): Promise<number> {
  const { terminal } = context;
  const home = findHome(context, options);
  const found = await selectShownRun(home, {
    prefix,
    accept: ({ endedAt }) => endedAt === undefined,
    which: ' that has not ended',
    changes: { words: ['cancel'], cwd: context.cwd, oneOf: 'run' },
    context,
    options,
  });
  if (!found.ok) return reject(found.error, { context, options });
  const { run, place } = found.value;
  const { runId } = run;
  const announce = () => {
    terminal.out(
      options.json === true ? renderValue('cancellation', { runId, status: 'running' }) : `canceling run ${runId}\n`,
    );
    return EXIT_CODE.ok;
  };
  if (place !== undefined && run.endedAt === undefined) {
    return actOnServer({ runId, verb: 'cancel' }, { context, options: found.value.options, print: announce });
  }
  // First without the service: it cannot be opened while a step of the run takes every inode that becomes free.
  const requested = await requestCancel({ home, runId, by: readUserName() });
  if (!requested.ok) return reject(fromRunError(requested.error, { options, runId }), { context, options });
  if (requested.value.isExecuted) return announce();
  return withService({ context, options: found.value.options }, async ({ service, traces, loginAdvice }) => {
    const progress = createProgress(terminal, options);
    const secrets = createSecretReader(home, context.env);
    const canceled = await cancelRun({
      ...{ runId, service, home, secrets, reporter: progress, by: readUserName() },
      ...(traces && { traces }),
    });
    progress.close();
    if (!canceled.ok)
      return reject(fromRunError(canceled.error, { options, runId, loginAdvice }), { context, options });
    const report = canceled.value;
    if (report === undefined) return announce();
    terminal.out(
      options.json === true
        ? renderValue('cancellation', { runId, status: report.status })
        : renderReport(report, { terminal, cwd: context.cwd, options }),
    );
    return EXIT_CODE.ok;
  });
}
