import { readRun, type ServerPlace } from '@sluice/home';
import { paramWords, type RunReport } from '@sluice/run';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import type { GivenParam } from '../pipeline/read-given-params.ts';
import { type OrderOptions, orderOptions } from '../runs/create-order.ts';
import type { FollowOptions } from '../runs/follow-options.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';
import { serverOptions } from '../runs/server-options.ts';
import { runPipeline } from './run-pipeline.ts';

/** Options of `sluice rerun`. */
export interface RerunOptions extends FollowOptions {
  /** Run all steps. Default: the steps that succeeded and have not changed are reused. */
  readonly all?: boolean;
  /** Steps, or cells of them, that are rerun with their dependents although they have not changed. */
  readonly from?: readonly string[];
  /** Parameters that replace those of the earlier run. */
  readonly param?: Readonly<Record<string, GivenParam>>;
  /** A file of parameters that replace those of the earlier run. */
  readonly paramsFile?: string;
  /** Labels that are added to those of the earlier run, or replace them. */
  readonly label?: Readonly<Record<string, string>>;
  /** Have the new run executed by a process in the background, or by a server. */
  readonly detach?: boolean;
  /** Execute the new run on this machine, although the server of its service could. */
  readonly here?: boolean;
}

/** Containers may still be working for a run that has not ended. */
const UNFINISHED: Partial<Record<RunReport['status'], (runId: string, options: GlobalOptions) => string>> = {
  running: (runId, options) => `it is in progress; cancel it first with: ${suggestCommand(['cancel', runId], options)}`,
  suspended: (runId, options) => `it has not ended; continue it with: ${suggestCommand(['resume', runId], options)}`,
};

/** `sluice rerun`: starts a run with the file, parameters and options of an earlier one; the file as it is now. */
export async function rerun(
  prefix: string | undefined,
  context: CommandContext,
  options: RerunOptions,
): Promise<number> {
  const home = findHome(context, options);
  const found = await selectShownRun(home, {
    prefix,
    changes: { words: ['rerun'], cwd: context.cwd, oneOf: 'pipeline' },
    context,
    options,
  });
  if (!found.ok) return reject(found.error, { context, options });
  const { runId } = found.value.run;
  const report = await readRun(home, runId);
  if (!report.ok) return reject(fromRunError(report.error, { options, runId }), { context, options });
  const { status, order } = report.value;
  const fault = UNFINISHED[status]?.(runId, options);
  if (fault !== undefined || order === undefined) {
    const message = `could not rerun run ${runId}: ${fault ?? describeUnrecorded(runId, options)}`;
    return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
  }
  const { all = false, from = [], param, label, ...shared } = options;
  const recorded = orderOptions(order);
  // A run in the background waits for the approval.
  const { stopAtApproval: _, ...waiting } = recorded;
  const earlier = keepService(options.detach === true ? waiting : recorded, { options, place: found.value.place });
  return runPipeline(order.file, context, {
    ...earlier,
    ...shared,
    recordedParams: order.params,
    param: param ?? {},
    ...(label && { label: { ...earlier.label, ...label } }),
    ...(!all && { reuseFrom: runId, from }),
  });
}

/**
 * The service of the earlier run, unless the user names another one, which does not have its account. Of a run on a server, it
 * is that server: the copy of its journal does not choose who gets the sources and the secrets.
 */
function keepService(
  recorded: OrderOptions,
  { options, place }: { readonly options: GlobalOptions; readonly place: ServerPlace | undefined },
): OrderOptions {
  const { service: _service, profile: _profile, account: _account, cluster: _cluster, ...others } = recorded;
  if (options.service !== undefined || options.profile !== undefined) return others;
  return { ...(place === undefined ? recorded : serverOptions(others, place)), isRecorded: true };
}

/** Only the user knows the file of a run that no command has started. */
function describeUnrecorded(
  runId: string,
  { all = false, from = [], param = {}, paramsFile, label = {}, ...shared }: RerunOptions,
): string {
  const words = [
    'run',
    ...(paramsFile === undefined ? [] : ['--params-file', paramsFile]),
    ...Object.entries(param).flatMap(([name, given]) =>
      typeof given === 'string' ? paramWords({ [name]: given }) : ['-p', `${name}=@${given.file}`],
    ),
    ...Object.entries(label).flatMap(([name, value]) => ['--label', `${name}=${value}`]),
    ...(all ? [] : ['--reuse-from', runId]),
    ...from.flatMap((step) => ['--from', step]),
  ];
  const again = suggestCommand(words, shared);
  return `a program or a server started it, so no command is recorded; start it there again, or run its file with: ${again} (add its file, if that is not pipeline.yaml, and its parameters)`;
}
