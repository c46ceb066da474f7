import { join, relative, resolve } from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { listRuns, type RunOutputs, readOutputs } from '@sluice/runner';
import { openService } from '../connect/open-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal, refuse } from '../context/refuse.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { createLiveProgress } from '../progress/live-progress.ts';
import { renderBytes } from '../progress/render-event.ts';
import { selectRun } from '../runs/select-run.ts';

/** Options of `sluice pull`. */
export interface PullCommandOptions extends GlobalOptions {
  /** Destination directory, relative to the working directory; one subdirectory per output. */
  readonly to: string;
  /** Prefix of a run's ID; if set, all arguments are names of outputs. */
  readonly run?: string;
}

/** The default of `--to`, which suggested commands omit. */
const DEFAULT_DIRECTORY = 'results';

/** `sluice pull`: copies outputs of a run to local directories, one per output. Stops at the first failure. */
export async function pull(
  given: { run: string | undefined; outputs: readonly string[] },
  context: CommandContext,
  options: PullCommandOptions,
): Promise<number> {
  const { terminal, cwd } = context;
  const home = findHome(context, options);
  const wanted = await resolveOutputs(home, given, options);
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
          ? `${JSON.stringify({ type: 'pulled', output, to, files: got.files, bytes: got.bytes })}\n`
          : `${output}  ${relative(cwd, to)}: ${got.files} file${got.files === 1 ? '' : 's'}, ${renderBytes(got.bytes)}\n`,
      );
    }
    return EXIT_CODE.ok;
  } finally {
    await opened.value.close();
  }
}

type Given = { readonly run: string | undefined; readonly outputs: readonly string[] };

/**
 * Interprets `[RUN] [OUTPUT…]`: a first word that is no prefix of a run's ID is an output of the newest run. Refuses
 * ambiguous words.
 */
async function resolveOutputs(
  home: string,
  given: Given,
  options: PullCommandOptions,
): Promise<Result<{ run: RunOutputs; names: readonly string[] }, CommandRefusal>> {
  const { run, outputs } = given;
  if (options.run !== undefined) {
    return selectOutputs(home, {
      options,
      prefix: options.run,
      asked: run === undefined ? outputs : [run, ...outputs],
    });
  }
  if (run === undefined) return selectOutputs(home, { options, prefix: undefined, asked: outputs });
  const begun = (await listRuns(home)).filter(({ runId }) => runId.startsWith(run));
  if (begun.some(({ runId }) => runId === run)) return selectOutputs(home, { options, prefix: run, asked: outputs });
  const newest = await selectRun(home, { prefix: undefined, options });
  const read = newest.ok ? await readOutputs(home, newest.value.runId) : undefined;
  const isOutput = newest.ok && read?.ok === true && read.value.names.includes(run);
  if (isOutput && begun.length > 0) {
    const runIds = begun.map(({ runId }) => runId);
    return fail(describeAmbiguity({ run, outputs }, { options, runIds, newest: newest.value.runId }));
  }
  // If the word is neither, the message lists the outputs of the newest run.
  if (isOutput || begun.length === 0)
    return selectOutputs(home, { options, prefix: undefined, asked: [run, ...outputs] }, run);
  return selectOutputs(home, { options, prefix: run, asked: outputs });
}

function describeAmbiguity(
  { run = '', outputs }: Given,
  found: { readonly options: PullCommandOptions; readonly runIds: readonly string[]; readonly newest: string },
): CommandRefusal {
  const { options, runIds, newest } = found;
  const to = options.to === DEFAULT_DIRECTORY ? [] : ['--to', options.to];
  const command = (runId: string, words: readonly string[]) =>
    suggestCommand(['pull', '--run', runId, ...words, ...to], options);
  const readings = [
    ...runIds.slice(0, 3).map((runId) => `for run ${runId}: ${command(runId, outputs)}`),
    `for output ${run} of the newest run: ${command(newest, [run, ...outputs])}`,
  ];
  const message = `could not resolve ${run}: it is an output of the newest run, ${newest}, and the start of the ID of ${runIds.length === 1 ? 'a run' : `${runIds.length} runs`}; ${readings.join('; ')}`;
  return { exitCode: EXIT_CODE.refused, message };
}

/**
 * Selects the outputs of one run. `word` is the argument that was read as an output because no run's ID starts with it.
 */
async function selectOutputs(
  home: string,
  {
    prefix,
    asked,
    options,
  }: {
    readonly prefix: string | undefined;
    readonly asked: readonly string[];
    readonly options: PullCommandOptions;
  },
  word?: string,
): Promise<Result<{ run: RunOutputs; names: readonly string[] }, CommandRefusal>> {
  const found = await selectRun(home, { prefix, options });
  if (!found.ok) return found;
  const { runId } = found.value;
  const read = await readOutputs(home, runId);
  if (!read.ok) return fail(fromRunRefusal(read.error, { options }));
  const has = read.value.names;
  const unknown = asked.find((name) => !has.includes(name));
  const its = has.length === 0 ? 'has no outputs' : `has the outputs ${has.join(', ')}`;
  if (unknown !== undefined) {
    const what =
      unknown === word ? `a run of ${home}, nor an output of the newest, ${runId}` : `an output of run ${runId}`;
    return fail({ exitCode: EXIT_CODE.refused, message: `could not pull ${unknown}: it is not ${what}, which ${its}` });
  }
  if (has.length === 0)
    return fail({ exitCode: EXIT_CODE.refused, message: `could not pull outputs: run ${runId} ${its}` });
  return ok({ run: read.value, names: asked.length > 0 ? asked : has });
}
