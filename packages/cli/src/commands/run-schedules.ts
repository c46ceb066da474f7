import { createPlannedTimes, type OpenSchedule, openSchedule, parseRange, type ScheduleEvent } from '@sluice/runner';
import type { ChosenTraces } from '../connect/choose-traces.ts';
import type { OpenedService } from '../connect/opened-service.ts';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { refuse } from '../context/refuse.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { createScheduleEventRenderer, type ScheduleEventRenderer } from '../json/create-schedule-event-renderer.ts';
import type { PipelineFileOptions } from '../pipeline/load-plan.ts';
import { loadAllScheduled, type Scheduled } from '../pipeline/load-scheduled.ts';
import { renderScheduleEvent } from '../render/render-schedule-event.ts';
import { recordCommand } from '../runs/recorded-command.ts';
import { renderPlannedTime } from '../text/render-planned-time.ts';

/** Without `once` or `backfill`, the schedules are watched until a signal ends the process. */
export interface RunSchedulesOptions extends GlobalOptions, PipelineFileOptions {
  readonly once?: boolean;
  /** `FROM..TO`, both dates included. */
  readonly backfill?: string;
}

/** `sluice schedule run|backfill`: runs pipelines at their planned times. */
export async function runSchedules(
  files: readonly string[],
  context: CommandContext,
  options: RunSchedulesOptions,
): Promise<number> {
  const scheduled = await loadAllScheduled(files, { context, options });
  if (!scheduled.ok) {
    const message = `${scheduled.error}; nothing was started`;
    return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  }
  return withService({ context, options, startsContainers: true }, (opened) =>
    runAll(scheduled.value, { ...opened, context, options }),
  );
}

/** An open schedule and the action that the options request of it. */
interface Work {
  readonly schedule: OpenSchedule;
  /** Resolves to false if a run did not succeed. */
  act(): Promise<boolean>;
}

type Given = OpenedService & ChosenTraces & { home: string; context: CommandContext; options: RunSchedulesOptions };

async function runAll(scheduled: readonly Scheduled[], given: Given): Promise<number> {
  const { context, options } = given;
  const left = new Set<string>();
  const renderJson = createScheduleEventRenderer();
  const work: Work[] = [];
  for (const one of scheduled) {
    const opened = openWork(one, { ...given, left, renderJson });
    if (typeof opened === 'string') {
      const message = `could not schedule ${one.name}: ${opened}; nothing was started`;
      return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
    }
    work.push(opened);
  }
  let signal: NodeJS.Signals | undefined;
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
  ];
  // After the listeners: a reader of this line may send a signal at once.
  if (!options.once && options.backfill === undefined) announce(scheduled, given, renderJson);
  let succeeded: readonly boolean[];
  try {
    succeeded = await Promise.all(work.map((one) => one.act()));
  } finally {
    await Promise.all(work.map(({ schedule }) => schedule.close()));
    for (const stop of unsubscribe) stop();
  }
  if (signal === 'SIGINT') return EXIT_CODE.interrupted;
  if (left.size > 0) return EXIT_CODE.suspended;
  return signal !== undefined || !succeeded.includes(false) ? EXIT_CODE.ok : EXIT_CODE.runFailed;
}

interface Output {
  /** Collects the runs that this process detaches from. */
  readonly left: Set<string>;
  readonly renderJson: ScheduleEventRenderer;
}

/** Opens a schedule; a string says why that failed. */
function openWork({ plan, file, baseDir, timezone }: Scheduled, given: Given & Output): Work | string {
  const { service, scope, home, traces, context, options, left, renderJson } = given;
  const range = options.backfill === undefined ? undefined : parseRange(options.backfill, timezone);
  if (range && !range.ok) return range.error;
  if (range && range.value.to > Date.now()) return `the range ${options.backfill} ends in the future`;
  const onEvent = (event: ScheduleEvent) => {
    if (event.type === 'scheduledRunDetached') left.add(event.runId);
    if (event.type === 'scheduledRunFinished') left.delete(event.runId);
    context.terminal.out(options.json ? renderJson(event) : renderScheduleEvent(event, timezone));
  };
  const secrets = createSecretReader(home, context.env);
  const rerun = recordCommand(file, { context, options });
  const opened = openSchedule({
    ...{ plan, file, service, scope, home, baseDir, secrets, onEvent, rerun },
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
function announce(
  scheduled: readonly Scheduled[],
  { context: { terminal }, options }: Given,
  renderJson: ScheduleEventRenderer,
): void {
  for (const { name, plan, timezone } of scheduled) {
    const at = Date.now();
    const next = createPlannedTimes(plan.pipeline.schedule!).after(at);
    const nextAt = next === undefined ? {} : { nextAt: next };
    if (options.json) terminal.out(renderJson({ type: 'scheduleWatched', schedule: name, at, ...nextAt }));
    else if (next !== undefined) terminal.out(`${name}: next at ${renderPlannedTime(next, timezone)}\n`);
  }
}
