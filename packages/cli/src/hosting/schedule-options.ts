import { resolve } from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { describeSettingsChange, listSchedules, readScheduleSettings } from '@sluice/home';
import type { RunSettings } from '@sluice/run';
import { type HostedOptions, selectHostedOptions } from '../connect/hosted-options.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { selectHome } from '../home/home.ts';
import { loadPlan, type PipelineFileOptions } from '../pipeline/load-plan.ts';
import { loadScheduled, type Scheduled } from '../pipeline/load-scheduled.ts';
import { countDiagnostics, printDiagnostics } from '../pipeline/print-diagnostics.ts';

/** The options of a command that opens a schedule. */
export type ScheduleCommandOptions = GlobalOptions & PipelineFileOptions;

/** A schedule with the settings that a command gives it. */
export interface RecordedSchedule extends Scheduled {
  readonly settings: RunSettings;
  /** They have the effect of the settings. */
  readonly options: ScheduleCommandOptions;
  /** What the settings change in the recorded ones, in words; undefined if nothing, or if none are recorded. */
  readonly change: string | undefined;
}

interface Given {
  readonly home: string;
  readonly context: CommandContext;
  readonly options: ScheduleCommandOptions & { readonly reset?: boolean };
}

/**
 * Loads the files of schedules, which must have different names. The options of the command, and its variables that select
 * a service, are added to the settings that are recorded for each schedule, or replace them with `reset`. Prints the diagnostics
 * of the files. Records nothing.
 */
export async function loadRecorded(
  files: readonly string[],
  given: Given,
): Promise<Result<readonly RecordedSchedule[], string>> {
  const { context, options } = given;
  const found = new Map<string, RecordedSchedule>();
  for (const file of files) {
    const recorded = await findRecorded(file, given);
    const merged = mergeSettings(options.reset === true ? undefined : recorded, given);
    const loaded = await loadScheduled(file, { context, options: changedOptions(merged, options) });
    const settings = loaded.ok ? { ...merged, params: loaded.value.loaded.given } : merged;
    const effective = {
      ...settingsToOptions(settings, options),
      ...(options.json !== undefined && { json: options.json }),
    };
    const { texts } = loaded.ok ? loaded.value.loaded : loaded.error;
    const diagnostics = loaded.ok ? loaded.value.loaded.warnings : loaded.error.diagnostics;
    printDiagnostics(diagnostics, texts, { context, options: effective });
    if (!loaded.ok) return fail(`${countDiagnostics(diagnostics)} in ${file}${adviseReset(recorded, given)}`);
    const { scheduled } = loaded.value;
    if (scheduled === undefined) return fail(`could not schedule ${file}: it has no \`schedule\``);
    const { name } = scheduled;
    if (found.has(name)) return fail(`could not schedule ${file}: another file also defines the pipeline ${name}`);
    const change = recorded && describeSettingsChange(recorded, settings);
    found.set(name, { ...scheduled, settings, options: effective, change });
  }
  return ok([...found.values()]);
}

/** The file may no longer have a recorded parameter. */
function adviseReset(recorded: RunSettings | undefined, { options }: Given): string {
  const names = Object.keys(recorded?.params ?? {});
  if (names.length === 0 || options.reset === true) return '';
  return ` with the recorded parameters ${names.join(', ')} (\`schedule run --reset\` forgets them)`;
}

/** The options that have the effect of recorded settings. The home is a named one only if the user has named it. */
export function settingsToOptions(
  { params, labels, ...options }: RunSettings,
  named: Pick<GlobalOptions, 'home'>,
): ScheduleCommandOptions & { readonly param: RunSettings['params'] } {
  return { ...options, param: params, ...(labels && { label: labels }), ...selectHome(named) };
}

/** The options of settings, to which a command adds its parameters. */
function changedOptions(settings: RunSettings, { param = {}, paramsFile, ...named }: ScheduleCommandOptions) {
  return {
    ...settingsToOptions(settings, named),
    ...{ recordedParams: settings.params, param },
    ...(paramsFile !== undefined && { paramsFile }),
  };
}

/** Why a schedule without recorded settings cannot be run by a process that was not told its parameters. */
export function adviseUnrecorded(name: string, file: string): string {
  const command = suggestCommand(['schedule', 'run', '--once', file]);
  return `could not run the schedule ${name}: its parameters are not recorded; record them with: ${command}`;
}

/**
 * Finds the settings by the pipeline's name. Reading the name may already need the settings, for example `root`; these are
 * found by the file.
 */
async function findRecorded(file: string, given: Given): Promise<RunSettings | undefined> {
  const { home, context, options } = given;
  const path = resolve(context.cwd, file);
  const known = (await listSchedules({ home })).find((one) => one.file === path)?.settings;
  const loaded = await loadPlan(file, { context, options: changedOptions(mergeSettings(known, given), options) });
  const name = loaded.ok ? loaded.value.plan.pipeline.name : loaded.error.pipeline?.name;
  return name === undefined ? known : readScheduleSettings({ home, name });
}

/** The values of parameters are added when they have been read. */
function mergeSettings(recorded: RunSettings | undefined, { context, options }: Given): RunSettings {
  const { params, ...before }: RunSettings = recorded ?? { params: {} };
  const chosen: HostedOptions = selectHostedOptions(options, context);
  // An account belongs to its service: another service does not have the account of the one before.
  const isOther = 'service' in chosen || 'profile' in chosen;
  const { profile: _profile, service: _service, account: _account, cluster: _cluster, ...others } = before;
  return {
    ...(isOther ? others : before),
    ...chosen,
    params,
    ...(options.label && { labels: { ...before.labels, ...options.label } }),
    ...(options.root !== undefined && { root: resolve(context.cwd, options.root) }),
    ...(options.ignoreImages === true && { ignoreImages: true as const }),
  };
}
