import { adoptRun } from '@sluice/runner';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { renderValue } from '../json/render-value.ts';
import { loadPlan, type PipelineFileOptions } from '../pipeline/load-plan.ts';
import { countDiagnostics, printDiagnostics } from '../pipeline/print-diagnostics.ts';
import { createProgress } from '../render/create-progress.ts';
import { label } from '../render/render-event.ts';
import { createOrder } from '../runs/create-order.ts';
import { renderTable } from '../text/render-table.ts';

/** Options of `sluice adopt`, as commander parses them. */
export type AdoptOptions = GlobalOptions & PipelineFileOptions;

/** `sluice adopt`: rebuilds a lost journal from the containers of the run, so that `sluice resume` can continue it. */
export async function adopt(
  { runId, file }: { runId: string; file: string },
  context: CommandContext,
  options: AdoptOptions,
): Promise<number> {
  const { terminal } = context;
  const loaded = await loadPlan(file, { context, options });
  if (!loaded.ok) {
    printDiagnostics(loaded.error.diagnostics, loaded.error.texts, { context, options });
    const message = `${countDiagnostics(loaded.error.diagnostics)} in ${file}; nothing was adopted`;
    return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
  }
  return withService({ context, options, startsContainers: true }, async (opened) => {
    const { service, scope, home, limits, loginAdvice } = opened;
    const progress = createProgress(terminal, options);
    const { plan, baseDir, given: params } = loaded.value;
    const secrets = createSecretReader(home, context.env);
    const given = { plan, service, scope, home, baseDir, secrets, reporter: progress, ...(limits && { limits }) };
    const order = createOrder(file, { params, context, options });
    const adopted = await adoptRun({ ...given, runId, order });
    progress.close();
    if (!adopted.ok) return reject(fromRunError(adopted.error, { options, runId, loginAdvice }), { context, options });
    if (options.json === true) {
      terminal.out(renderValue('adoption', { runId, containers: adopted.value }));
      return EXIT_CODE.ok;
    }
    const rows = adopted.value.map(({ step, cell, attempt, phase }) => [label(step, cell), String(attempt), phase]);
    terminal.out(renderTable([['STEP', 'ATTEMPT', 'PHASE'], ...rows]));
    terminal.out(`adopted run ${runId}; resume it with: ${suggestCommand(['resume', runId], options)}\n`);
    return EXIT_CODE.ok;
  });
}
