import {
  createPlannedTimes,
  describeSettingsChange,
  parseRange,
  recordScheduleSettings,
  type ScheduleEvent,
} from '@sluice/home';
import { orderWords } from '@sluice/run';
import { type OpenSchedule, openSchedule } from '@sluice/runner';
import { omitServiceVariables, selectHostedOptions } from '../connect/hosted-options.ts';
import type { HomeService } from '../connect/open-service.ts';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { printWarning } from '../context/print-warning.ts';
import { reject, withAdvice } from '../context/reject.ts';
import { quoteWord, suggestCommand } from '../context/suggest-command.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { findHome } from '../home/home.ts';
import { loadRecorded, type RecordedSchedule } from '../hosting/schedule-options.ts';
import { createScheduleEventRenderer, type ScheduleEventRenderer } from '../json/create-schedule-event-renderer.ts';
import type { PipelineFileOptions } from '../pipeline/load-plan.ts';
import { renderScheduleEvent } from '../render/render-schedule-event.ts';
import { renderPlannedTime } from '../text/render-planned-time.ts';

/** Without `once` or `backfill`, the schedules are watched until a signal ends the process. */
export interface RunSchedulesOptions extends GlobalOptions, PipelineFileOptions {
  readonly once?: boolean;
  /** Forget the recorded settings of the schedules; only the options of this command apply. */
  readonly reset?: boolean;
  /** `FROM..TO`, both dates included. The settings of the schedules are not changed. */
  readonly backfill?: string;
}

/** `sluice schedule run|backfill`: runs pipelines at their planned times, with the settings of their schedules. */
export async function runSchedules(
  files: readonly string[],
  context: CommandContext,
  options: RunSchedulesOptions,
): Promise<number> {
  const home = findHome(context, options);
  const scheduled = await loadRecorded(files, { home, context, options });
  if (!scheduled.ok) {
    const message = `${scheduled.error}; nothing was started`;
    return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
  }
  const changed = options.backfill === undefined ? undefined : scheduled.value.find(({ change }) => change);
  if (changed !== undefined) {
    const command = suggestCommand(['schedule', 'run', ...changeWords(changed)], options);
    const message = `could not backfill ${changed.name}: a backfill has the settings of its schedule, and these options would change ${changed.change}; nothing was started`;
    const advice = `leave the options out, or change the schedule with: ${command}`;
    return reject(withAdvice({ exitCode: EXIT_CODE.rejected, message }, advice), { context, options });
  }
  return withServices(scheduled.value, context, (works) => runAll(works, { home, context, options }));
}

/** The file and options that give a schedule these settings. */
function changeWords({ file, settings }: RecordedSchedule) {
  return orderWords({ file, ...settings }).slice(1);
}

/** A schedule, and the service that its settings select. */
type Served = RecordedSchedule & Pick<HomeService, 'service' | 'scope' | 'traces'>;

/** Opens each service that the schedules use once, and closes it after `act`. */
function withServices(
  scheduled: readonly RecordedSchedule[],
  context: CommandContext,
  act: (served: readonly Served[]) => Promise<number>,
): Promise<number> {
  const keyOf = (one: RecordedSchedule) => JSON.stringify(selectHostedOptions(one.options, { env: {}, cwd: '/' }));
  const recorded = { ...context, env: omitServiceVariables(context.env) };
  const open = (left: readonly RecordedSchedule[], opened: ReadonlyMap<string, HomeService>): Promise<number> => {
    const next = left.find((one) => !opened.has(keyOf(one)));
    if (next === undefined) return act(scheduled.map((one) => ({ ...opened.get(keyOf(one))!, ...one })));
    return withService({ context: recorded, options: next.options, startsContainers: true }, (service) =>
      open(left, new Map([...opened, [keyOf(next), service]])),
    );
  };
  return open(scheduled, new Map());
}

/** An open schedule and the action that the options request of it. */
interface Work {
  readonly schedule: OpenSchedule;
  /** Resolves to false if a run did not succeed. */
  act(): Promise<boolean>;
}

interface Given {
  readonly home: string;
  readonly context: CommandContext;
  readonly options: RunSchedulesOptions;
}

async function runAll(scheduled: readonly Served[], given: Given): Promise<number> {
  const { context, options } = given;
  const left = new Set<string>();
  const renderJson = createScheduleEventRenderer();
  const work: Work[] = [];
  for (const one of scheduled) {
    const opened = openWork(one, { ...given, left, renderJson });
    if (typeof opened === 'string') {
      const message = `could not schedule ${one.name}: ${opened}; nothing was started`;
      return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
    }
    work.push(opened);
  }
  const fault = options.backfill === undefined ? await recordAll(scheduled, given, renderJson) : undefined;
  if (fault !== undefined) return reject({ exitCode: EXIT_CODE.rejected, message: fault }, { context, options });
  let signal: NodeJS.Signals | undefined;
  let hasFailed = false;
  const end = (name: NodeJS.Signals) => {
    // A second signal does not wait for the journals, which survive that.
    if (signal !== undefined) context.exit(EXIT_CODE.interrupted);
    signal = name;
    for (const { schedule } of work) void schedule.close();
  };
  const unsubscribe = [
    context.onSignal('SIGINT', () => end('SIGINT')),
    context.onSignal('SIGTERM', () => end('SIGTERM')),
    context.onSignal('SIGHUP', () => {}),
    ...[...new Set(scheduled.map(({ service }) => service))].map((service) =>
      service.onFailure?.(({ message }) => {
        printWarning(context.terminal, `${message}; the schedules end: start them again once the disk works`);
        hasFailed = true;
        end('SIGTERM');
      }),
    ),
  ];
  // After the listeners: a reader of this line may send a signal at once.
  if (!options.once && options.backfill === undefined) announce(scheduled, given, renderJson);
  let succeeded: readonly boolean[];
  try {
    succeeded = await Promise.all(work.map((one) => one.act()));
  } finally {
    await Promise.all(work.map(({ schedule }) => schedule.close()));
    for (const stop of unsubscribe) stop?.();
  }
  if (signal === 'SIGINT') return EXIT_CODE.interrupted;
  if (hasFailed || left.size > 0) return EXIT_CODE.suspended;
  return signal !== undefined || !succeeded.includes(false) ? EXIT_CODE.ok : EXIT_CODE.runFailed;
}

interface Output {
  /** Collects the runs that this process suspends. */
  readonly left: Set<string>;
  readonly renderJson: ScheduleEventRenderer;
}

/** Records the settings of all schedules, and says what changes. A string says why they cannot be recorded. */
async function recordAll(
  scheduled: readonly Served[],
  { home, context: { terminal }, options }: Given,
  renderJson: ScheduleEventRenderer,
): Promise<string | undefined> {
  for (const { name, settings, timezone } of scheduled) {
    const recorded = await recordScheduleSettings({ home, name, settings });
    if (!recorded.ok) return recorded.error;
    const change = recorded.value && describeSettingsChange(recorded.value, settings);
    if (change === undefined) continue;
    const message = `its settings change: ${change}`;
    const event: ScheduleEvent = { type: 'scheduleChanged', schedule: name, at: Date.now(), message };
    terminal.out(options.json ? renderJson(event) : renderScheduleEvent(event, timezone));
  }
  return undefined;
}

/** Opens a schedule; a string says why that failed. */
function openWork(one: Served, given: Given & Output): Work | string {
  const { plan, file, baseDir, timezone, settings, service, scope, traces } = one;
  const { home, context, options, left, renderJson } = given;
  const range = options.backfill === undefined ? undefined : parseRange(options.backfill, timezone);
  if (range && !range.ok) return range.error;
  if (range && range.value.to > Date.now()) return `the range ${options.backfill} ends in the future`;
  const onEvent = (event: ScheduleEvent) => {
    if (event.type === 'scheduledRunSuspended') left.add(event.runId);
    if (event.type === 'scheduledRunFinished') left.delete(event.runId);
    context.terminal.out(options.json ? renderJson(event) : renderScheduleEvent(event, timezone));
  };
  const secrets = createSecretReader(home, context.env);
  const opened = openSchedule({
    ...{ plan, file, service, scope, home, baseDir, secrets, onEvent, settings },
    order: { file, ...settings },
    ...(traces && { traces }),
  });
  if (!opened.ok) return opened.error;
  const schedule = opened.value;
  const act = async () => {
    if (range) return schedule.backfill(range.value);
    if (options.once) return schedule.runDue();
    await schedule.watch();
    return true;
  };
  return { schedule, act };
}

/** Prints each schedule and its next planned time. */
function announce(scheduled: readonly Served[], { context, options }: Given, renderJson: ScheduleEventRenderer): void {
  const { terminal } = context;
  for (const one of scheduled) {
    const { name, plan, timezone } = one;
    const at = Date.now();
    const next = createPlannedTimes(plan.pipeline.schedule!).after(at);
    const nextAt = next === undefined ? {} : { nextAt: next };
    if (options.json) terminal.out(renderJson({ type: 'scheduleWatched', schedule: name, at, ...nextAt }));
    if (options.json === true || next === undefined) continue;
    const words = changeWords(one).slice(1).map(quoteWord).join(' ');
    terminal.out(`${name}: next at ${renderPlannedTime(next, timezone)}${words && `, with ${words}`}\n`);
  }
}
