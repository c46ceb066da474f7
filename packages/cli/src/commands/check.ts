import type { CommandContext, GlobalOptions } from '../command-context.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { loadPlan } from '../pipeline/load-plan.ts';
import { countDiagnostics, printDiagnostics } from '../pipeline/print-diagnostics.ts';

export interface CheckOptions extends GlobalOptions {
  readonly param?: Readonly<Record<string, string>>;
}

/** `sluice check`: every fault of a file at once, in file order. */
export async function check(file: string, context: CommandContext, options: CheckOptions): Promise<number> {
  const { terminal } = context;
  const loaded = await loadPlan(file, { context, params: options.param });
  const diagnostics = loaded.ok ? loaded.value.warnings : loaded.error.diagnostics;
  const { texts } = loaded.ok ? loaded.value : loaded.error;
  printDiagnostics(diagnostics, texts, { terminal, ...options });
  if (!loaded.ok) {
    if (options.json !== true) terminal.err(`${countDiagnostics(diagnostics)} in ${file}\n`);
    return EXIT_CODE.refused;
  }
  const { steps } = loaded.value.plan;
  if (options.json !== true) terminal.out(`${file} is right: ${steps.length} step${steps.length === 1 ? '' : 's'}\n`);
  return EXIT_CODE.ok;
}
