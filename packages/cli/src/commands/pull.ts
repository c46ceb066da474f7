import { join, relative, resolve } from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { type RunOutputs, readOutputs } from '@sluice/runner';
import { openService } from '../connect/open-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal, refuse, withAdvice } from '../context/refuse.ts';
import { findHome } from '../home/home.ts';
import { renderValue } from '../json/render-value.ts';
import { createLiveProgress } from '../progress/live-progress.ts';
import { renderBytes } from '../progress/render-event.ts';
import { adviseOnRunArgument } from '../runs/advise-on-run-argument.ts';
import { type Address, parseAddress } from '../runs/parse-address.ts';
import { selectRun } from '../runs/select-run.ts';
import { listSome } from '../text/shorten.ts';

/** Options of `sluice pull`. */
export interface PullCommandOptions extends GlobalOptions {
  /** Destination directory, relative to the working directory; one subdirectory per output. */
  readonly to: string;
  /** Prefix of a run's ID (default: the newest run). */
  readonly run?: string;
}

/** `sluice pull`: copies outputs of a run to local directories, one per output. Stops at the first failure. */
export async function pull(
  addresses: readonly string[],
  context: CommandContext,
  options: PullCommandOptions,
): Promise<number> {
  const { terminal, cwd } = context;
  const wanted = await selectOutputs(findHome(context, options), addresses, options);
  if (!wanted.ok) return refuse(wanted.error, { context, options });
  const { run, names } = wanted.value;
  const opened = await openService(options, context);
  if (!opened.ok) return refuse(opened.error, { context, options });
  try {
    for (const output of names) {
      const to = join(resolve(cwd, options.to), output);
      let got = { files: 0, bytes: 0 };
      const live = terminal.live && options.json !== true ? createLiveProgress(terminal, options) : undefined;
      const pulled = await run.pull(output, {
        service: opened.value.service,
        to,
        onProgress: (progress) => {
          got = progress;
          if (progress.done) return;
          live?.report({ type: 'transfer', at: Date.now(), direction: 'download', name: output, ...progress });
        },
      });
      live?.close();
      if (!pulled.ok) return refuse(fromRunRefusal(pulled.error, { options }), { context, options });
      for (const warning of pulled.value) terminal.err(`warning: output ${output}: ${warning}\n`);
      terminal.out(
        options.json === true
          ? renderValue('download', { output, to, files: got.files, bytes: got.bytes })
          : `${output}  ${relative(cwd, to)}: ${got.files} file${got.files === 1 ? '' : 's'}, ${renderBytes(got.bytes)}\n`,
      );
    }
    return EXIT_CODE.ok;
  } finally {
    await opened.value.close();
  }
}

type Selection = { readonly run: RunOutputs; readonly names: readonly string[] };

/** The outputs that the addresses name, each once; without addresses, those that the pipeline declares. */
async function selectOutputs(
  home: string,
  addresses: readonly string[],
  options: PullCommandOptions,
): Promise<Result<Selection, CommandRefusal>> {
  const found = await selectRun(home, { prefix: options.run, options });
  if (!found.ok) return found;
  const { runId } = found.value;
  const read = await readOutputs(home, runId);
  if (!read.ok) return fail(fromRunRefusal(read.error, { options, runId }));
  const run = read.value;
  const refuse = (message: string) => fail({ exitCode: EXIT_CODE.refused, message });
  if (addresses.length === 0 && run.names.length === 0) {
    const advice = run.steps.length === 0 ? '' : `; name outputs of its steps: ${listOutputs(run)}`;
    return refuse(`could not pull outputs: run ${runId} has none that its pipeline declares${advice}`);
  }
  const names = new Set(addresses.length === 0 ? run.names : []);
  for (const text of addresses) {
    const address = parseAddress(text);
    if (!address.ok) return address;
    if (address.value.path !== undefined) return refuse(`could not pull ${text}: only whole outputs can be copied`);
    const matches = findOutputs(run, address.value);
    if (matches.length === 0) {
      const its = run.names.length + run.steps.length === 0 ? 'no outputs' : `the outputs ${listOutputs(run)}`;
      const refusal = { exitCode: EXIT_CODE.refused, message: `could not pull ${text}: run ${runId} has ${its}` };
      return fail(withAdvice(refusal, await adviseOnRunArgument(home, { word: text, options })));
    }
    for (const name of matches) names.add(name);
  }
  return ok({ run, names: [...names] });
}

/** A word alone is an output that the pipeline declares; if there is none, it is a step, of which all outputs match. */
function findOutputs({ names, steps }: RunOutputs, { step, cell, output }: Address): readonly string[] {
  if (cell === undefined && output === undefined && names.includes(step)) return [step];
  return steps
    .filter((one) => one.step === step && (output === undefined || one.output === output))
    .filter(({ places }) => cell === undefined || places.some((place) => place.cell === cell))
    .map((one) => `${cell === undefined ? step : `${step}/${cell}`}.${one.output}`);
}

function listOutputs({ names, steps }: RunOutputs): string {
  return listSome([...names, ...steps.map(({ step, output }) => `${step}.${output}`)], OUTPUT_COLUMNS);
}

/** Width of the outputs that a message lists. */
const OUTPUT_COLUMNS = 200;
