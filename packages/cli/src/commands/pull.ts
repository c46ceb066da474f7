import { join, relative, resolve } from 'node:path';
import { pullOutput, readRun } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../command-context.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { findRun } from '../find-run.ts';
import { findHome } from '../home.ts';
import { openService } from '../open-service.ts';
import { renderBytes } from '../progress/render-event.ts';
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
  const home = findHome({ home: options.home, env: context.env, cwd });
  const found = await findRun(home, { prefix: given.run });
  if (!found.ok) return refuse(found.error, { context, options });
  const { runId } = found.value;
  const report = await readRun(home, runId);
  if (!report.ok) return refuse(fromRunner(report.error), { context, options });
  const names = given.outputs.length > 0 ? given.outputs : Object.keys(report.value.outputs);
  if (names.length === 0)
    return refuse({ exitCode: EXIT_CODE.refused, message: `Run ${runId} has no outputs` }, { context, options });
  const opened = await openService(options, context);
  if (!opened.ok) return refuse(opened.error, { context, options });
  try {
    for (const output of names) {
      const to = join(resolve(cwd, options.to), output);
      let got = { files: 0, bytes: 0 };
      const pulled = await pullOutput({
        service: opened.value.service,
        home,
        runId,
        output,
        to,
        onProgress: (progress) => {
          got = progress;
        },
      });
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
