import { explainStep } from '@sluice/runner';
import { readContainerStatus } from '../connect/read-container-status.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal, refuse } from '../context/refuse.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { renderExplanation } from '../render/render-explanation.ts';
import { describeMissingStep, selectRun } from '../runs/select-run.ts';

/** `sluice why`: explains why a step waits, runs, failed, was skipped, was retried or was not reused. */
export async function why(
  { run: prefix, step }: { run: string | undefined; step: string },
  context: CommandContext,
  options: GlobalOptions,
): Promise<number> {
  const home = findHome(context, options);
  const found = await selectRun(home, { prefix, options });
  if (!found.ok) return refuse(found.error, { context, options });
  const explained = await explainStep({
    home,
    runId: found.value.runId,
    step,
    suggest: (words) => suggestCommand(words, options),
  });
  if (!explained.ok) {
    const hint =
      prefix === undefined ? await describeMissingStep(home, { word: step, command: 'why', options }) : undefined;
    const refusal = fromRunRefusal(explained.error, { options, runId: found.value.runId });
    return refuse({ ...refusal, message: hint ?? refusal.message }, { context, options });
  }
  const service = await readContainerStatus(explained.value, { context, options });
  const { terminal } = context;
  terminal.out(
    options.json === true
      ? `${JSON.stringify({ ...explained.value, ...(service && { service }) })}\n`
      : renderExplanation(explained.value, { terminal, service, options }),
  );
  return EXIT_CODE.ok;
}
