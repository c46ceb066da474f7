import { fail, ok, type Plan, type Result, stepsWithImages } from '@sluice/core';
import { canRunImages } from '@sluice/service';
import type { EmbeddedEngine } from '../connect/embedded-engine.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { listNames } from './ignore-images.ts';

/**
 * Rejects a plan with images if the embedded service cannot run any on this machine. Other services are not checked.
 */
export async function checkImages(
  plan: Plan,
  { options, context }: { options: GlobalOptions; context: CommandContext },
): Promise<Result<undefined, CommandError>> {
  const named = stepsWithImages(plan);
  if (named.length === 0) return ok(undefined);
  const { chooseService } = await import('../connect/choose-service.ts');
  const chosen = chooseService(options, context);
  if (!chosen.ok) return chosen;
  const { url, engine } = chosen.value;
  if (url !== undefined) return ok(undefined);
  const { name } = engine;
  if (name !== 'local') return checkRuntime(listNames(named), { ...engine, name });
  if (await canRunImages()) return ok(undefined);
  const what = `could not run the image of ${listNames(named)}: neither Docker nor Podman answers on this machine`;
  const advice =
    "start one of them (see `sluice doctor`), or run the commands with this machine's programs: --ignore-images";
  return fail({ exitCode: EXIT_CODE.rejected, message: `${what}; ${advice}` });
}

const IGNORE = "run the commands with the nodes' programs: --ignore-images";
/** How an engine on Slurm gets a runtime, and what to do instead. */
const ADVICE = {
  slurm: `set \`runtime\` in the \`options\` of the profile to podman, apptainer or charliecloud, whichever the nodes have, or ${IGNORE}`,
  'slurm-job': `use a profile with \`engine: slurm-job\` and \`options: { runtime: charliecloud }\` if the nodes have Charliecloud, or --engine slurm with a \`runtime\`, which submits jobs, or --engine local, or ${IGNORE}`,
};

function checkRuntime(
  names: string,
  { name, options: { runtime = 'none' } }: EmbeddedEngine & { readonly name: keyof typeof ADVICE },
): Result<undefined, CommandError> {
  if (runtime !== 'none') return ok(undefined);
  const message = `could not run the image of ${names}: the engine ${name} has no runtime for images; ${ADVICE[name]}`;
  return fail({ exitCode: EXIT_CODE.rejected, message });
}
