import { join, relative, resolve } from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { pullOutput, readRun } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../command-context.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { findRun } from '../find-run.ts';
import { findHome } from '../home.ts';
import { openService } from '../open-service.ts';
import { createLiveProgress } from '../progress/live-progress.ts';
import { renderBytes } from '../progress/render-event.ts';
import type { Refusal } from '../refusal.ts';
import { fromRunner, refuse } from '../refuse.ts';

export interface PullCommandOptions extends GlobalOptions {
  readonly to: string;
}

/** `sluice pull`: outputs of a run as local files, each in a directory of its name. */
export async function pull(
  given: { run: string | undefined; outputs: readonly string[] },
  context: CommandContext,
  options: PullCommandOptions,
): Promise<number> {
  const { terminal, cwd } = context;
  const home = findHome(context, options);
  const wanted = await nameOutputs(home, given);
  if (!wanted.ok) return refuse(wanted.error, { context, options });
  const { runId, names } = wanted.value;
  const opened = await openService(options, context);
  if (!opened.ok) return refuse(opened.error, { context, options });
  try {
    for (const output of names) {
      const to = join(resolve(cwd, options.to), output);
      let got = { files: 0, bytes: 0 };
      const live = terminal.live && options.json !== true ? createLiveProgress(terminal) : undefined;
      const pulled = await pullOutput({
        service: opened.value.service,
        home,
        runId,
        output,
        to,
        onProgress: (progress) => {
          got = progress;
          if (progress.done) return;
          live?.report({ type: 'transfer', at: Date.now(), direction: 'download', name: output, ...progress });
        },
      });
      live?.close();
      if (!pulled.ok) return refuse(fromRunner(pulled.error), { context, options });
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

/** What `[RUN] [OUTPUT…]` means: a first word that begins no run's ID is an output of the newest run. */
async function nameOutputs(
  home: string,
  { run, outputs }: { run: string | undefined; outputs: readonly string[] },
): Promise<Result<{ runId: string; names: readonly string[] }, Refusal>> {
  const named = await findRun(home, { prefix: run });
  const found = named.ok || run === undefined ? named : await findRun(home, { prefix: undefined });
  if (!found.ok) return found;
  const { runId } = found.value;
  const report = await readRun(home, runId);
  if (!report.ok) return fail(fromRunner(report.error));
  const has = Object.keys(report.value.outputs);
  const asked = named.ok || run === undefined ? outputs : [run, ...outputs];
  const unknown = asked.find((name) => !has.includes(name));
  const its = has.length === 0 ? 'has no outputs' : `has the outputs ${has.join(', ')}`;
  if (unknown !== undefined) {
    const what = named.ok ? `an output of run ${runId}` : `a run of ${home}, nor an output of the newest, ${runId}`;
    return fail({ exitCode: EXIT_CODE.refused, message: `${unknown} is not ${what}, which ${its}` });
  }
  if (has.length === 0) return fail({ exitCode: EXIT_CODE.refused, message: `Run ${runId} ${its}` });
  return ok({ runId, names: asked.length > 0 ? asked : has });
}
