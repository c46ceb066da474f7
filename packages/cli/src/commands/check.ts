import type { Pipeline } from '@sluice/core';
import type { SiteLimits } from '@sluice/run';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { findProfile } from '../home/find-profile.ts';
import { followUse } from '../home/follow-use.ts';
import { readProfile } from '../home/profile.ts';
import { renderValue } from '../json/render-value.ts';
import { checkMounts } from '../pipeline/check-mounts.ts';
import { loadPlan, type PipelineFileOptions } from '../pipeline/load-plan.ts';
import { countDiagnostics, printDiagnostics } from '../pipeline/print-diagnostics.ts';

/** With `param`, the values of parameters are checked too. */
export type CheckOptions = GlobalOptions & PipelineFileOptions;

/** `sluice check`: shows all errors of a file in file order. A file that only lacks values of parameters is valid. */
export async function check(file: string, context: CommandContext, options: CheckOptions): Promise<number> {
  const { terminal } = context;
  const loaded = await loadPlan(file, { context, options });
  const diagnostics = loaded.ok ? loaded.value.warnings : loaded.error.diagnostics;
  const { texts } = loaded.ok ? loaded.value : loaded.error;
  // A file is valid without values for its parameters; they are listed for the user.
  const missing = diagnostics.filter(({ code }) => code === 'missing-param');
  const lacksOnlyValues = diagnostics.every(({ code, severity }) => severity === 'warning' || code === 'missing-param');
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning');
  const wanted = missing.map((diagnostic) => ({ ...diagnostic, severity: 'warning' as const }));
  const shown = !lacksOnlyValues ? diagnostics : options.json === true ? [...warnings, ...wanted] : warnings;
  printDiagnostics(shown, texts, { context, options });
  if (!loaded.ok && lacksOnlyValues && loaded.error.pipeline !== undefined) {
    const { pipeline, given = {} } = loaded.error;
    const lines = missing.map(({ hint, message }) => `${message}; ${hint}\n`).join('');
    const text = `${file} is valid; a run needs values for its parameters:\n${lines}`;
    terminal.out(options.json === true ? renderValid(pipeline, { file, given }) : text);
    return EXIT_CODE.ok;
  }
  if (!loaded.ok) {
    if (options.json !== true) terminal.err(`${countDiagnostics(diagnostics)} in ${file}`);
    return EXIT_CODE.rejected;
  }
  const mounts = checkMounts(loaded.value, readLimits(context, options));
  if (mounts.length > 0) {
    printDiagnostics(mounts, texts, { context, options });
    if (options.json !== true) terminal.err(`${countDiagnostics(mounts)} in ${file}`);
    return EXIT_CODE.rejected;
  }
  const { pipeline, steps } = loaded.value.plan;
  const text = `${file} is valid: ${steps.length} step${steps.length === 1 ? '' : 's'}\n`;
  terminal.out(options.json === true ? renderValid(pipeline, { file, given: loaded.value.given }) : text);
  return EXIT_CODE.ok;
}

function renderValid(
  { name, steps, finally: final, params }: Pipeline,
  { file, given }: { file: string; given: Readonly<Record<string, string>> },
): string {
  const missing = Object.entries(params).filter(([name, { required }]) => required && !Object.hasOwn(given, name));
  const missingParams = missing.map(([name]) => name);
  return renderValue('check', { file, pipeline: name, steps: steps.length + final.length, missingParams });
}

/** Reads the limits even from an unconfirmed profile, because they send nothing anywhere. */
function readLimits(context: CommandContext, options: GlobalOptions): SiteLimits | undefined {
  const place = findProfile(options, context);
  if (!place.ok || place.value === undefined) return undefined;
  const { path } = place.value;
  const profile = readProfile(path);
  const used = profile.ok ? followUse({ profile: profile.value, path }, context.env) : profile;
  return used.ok ? used.value.profile.limits : undefined;
}
