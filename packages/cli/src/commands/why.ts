import { explainStep } from '@sluice/home';
import { readContainerStatus } from '../connect/read-container-status.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError, reject, withAdvice } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { explanationValue } from '../json/explanation-value.ts';
import { renderValue } from '../json/render-value.ts';
import { renderExplanation } from '../render/render-explanation.ts';
import { adviseOnRunArgument } from '../runs/advise-on-run-argument.ts';
import { parseStepAddress } from '../runs/parse-address.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';

/** `run` is the prefix of a run's ID (default: the newest run). */
export interface WhyOptions extends GlobalOptions {
  readonly run?: string;
  /** The run with which the step is compared: `RUN`, `RUN/STEP[/CELL]`, or `previous`. */
  readonly against?: string;
}

/**
 * `sluice why`: explains why a step waits, runs, failed, was skipped, was retried or was not reused, or why it differs from that
 * of another run.
 */
export async function why(step: string, context: CommandContext, options: WhyOptions): Promise<number> {
  const address = parseStepAddress(step);
  if (!address.ok) return reject(address.error, { context, options });
  const home = findHome(context, options);
  const found = await selectShownRun(home, { prefix: options.run, context, options });
  if (!found.ok) return reject(found.error, { context, options });
  const { against } = options;
  if (against !== undefined) {
    const { whyDifferent } = await import('./why-different.ts');
    return whyDifferent(step, { run: found.value, context, options: { ...found.value.options, against } }, home);
  }
  const explained = await explainStep({
    home,
    runId: found.value.run.runId,
    step,
    suggest: (words) => suggestCommand(words, options),
  });
  if (!explained.ok) {
    const rejection = fromRunError(explained.error, { options, runId: found.value.run.runId });
    const advice = await adviseOnRunArgument(home, { word: step, options });
    return reject(withAdvice(rejection, advice), { context, options });
  }
  const service = await readContainerStatus(explained.value, { context, options: found.value.options });
  const { terminal } = context;
  terminal.out(
    options.json === true
      ? renderValue('explanation', explanationValue(explained.value, service))
      : renderExplanation(explained.value, { terminal, service, options }),
  );
  return EXIT_CODE.ok;
}
