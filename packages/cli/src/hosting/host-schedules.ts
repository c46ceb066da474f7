import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeSettingsChange, recordScheduleSettings, type ScheduleEvent } from '@sluice/home';
import type { HostMetrics } from '@sluice/host';
import { renderTimes } from '@sluice/run';
import { type OpenSchedule, openSchedule } from '@sluice/runner';
import type { createServiceLog, Service } from '@sluice/service';
import type { ChosenTraces } from '../connect/choose-traces.ts';
import type { CommandContext } from '../context/command-context.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { makeHome } from '../home/make-home.ts';
import { loadScheduled, type Scheduled } from '../pipeline/load-scheduled.ts';
import { renderDiagnostics } from '../pipeline/print-diagnostics.ts';
import type { HostedSchedules, ServedConfig } from './read-service-config.ts';

/** The service that runs the schedules, and the configuration that lists them. */
export interface HostSchedulesOptions extends ChosenTraces {
  readonly config: ServedConfig;
  readonly service: Service;
  readonly metrics: HostMetrics;
  readonly context: CommandContext;
  readonly log: ReturnType<typeof createServiceLog>;
}

/** Schedules that run in the process of a service. */
export interface ScheduleHost {
  /** Suspends the runs; the next process with these schedules resumes them. */
  close(): Promise<void>;
}

/**
 * Runs scheduled pipelines on a service in this process. Each account has its own home below the service's root. A file
 * with errors is logged and omitted, so that it does not stop the service.
 */
export async function hostSchedules(options: HostSchedulesOptions): Promise<ScheduleHost> {
  const open: OpenSchedule[] = [];
  const watched: Promise<void>[] = [];
  const taken = new Set<string>();
  for (const entry of options.config.schedules) {
    for (const scheduled of await loadEntry(entry, options)) {
      const key = `${entry.account}/${scheduled.name}`;
      if (taken.has(key)) {
        options.log.error({ schedule: key }, 'could not schedule a pipeline: another pipeline has the same name');
        continue;
      }
      taken.add(key);
      const schedule = await openOne(entry, scheduled, options);
      if (schedule === undefined) continue;
      open.push(schedule);
      const fault = (err: unknown) => options.log.fatal({ err, schedule: key }, 'a schedule stopped unexpectedly');
      watched.push(schedule.watch().catch(fault));
    }
  }
  return {
    async close() {
      await Promise.all(open.map((schedule) => schedule.close()));
      await Promise.all(watched);
    },
  };
}

type Entry = HostedSchedules[number];

async function loadEntry(
  { account, files, params }: Entry,
  { config, log }: HostSchedulesOptions,
): Promise<Scheduled[]> {
  const found: Scheduled[] = [];
  for (const { file, isNamed } of filesOf(files, { config, log })) {
    const loaded = await loadScheduled(file, { context: { cwd: config.directory }, options: { param: params } });
    if (!loaded.ok) {
      const problems = renderDiagnostics(loaded.error.diagnostics, loaded.error.texts);
      log.error({ account, file, problems }, 'could not schedule a pipeline: its file has errors');
    } else if (loaded.value.scheduled !== undefined) found.push(loaded.value.scheduled);
    else if (isNamed) log.error({ account, file }, 'could not schedule a pipeline: it has no `schedule`');
  }
  return found;
}

/** The named files, and the YAML files in the named directories, which may also contain files for other uses. */
function filesOf(
  names: readonly string[],
  { config, log }: Pick<HostSchedulesOptions, 'config' | 'log'>,
): { file: string; isNamed: boolean }[] {
  return names.flatMap((name): { file: string; isNamed: boolean }[] => {
    const path = resolve(config.directory, name);
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [{ file: path, isNamed: true }];
    try {
      const inside = readdirSync(path).filter((entry) => /\.ya?ml$/.test(entry));
      return inside.sort().map((entry) => ({ file: join(path, entry), isNamed: false }));
    } catch (err) {
      log.error({ err, file: path }, 'could not read a directory of pipelines');
      return [];
    }
  });
}

async function openOne(
  { account, params }: Entry,
  { name, plan, file, baseDir }: Scheduled,
  { config, service, metrics, traces, context, log }: HostSchedulesOptions,
): Promise<OpenSchedule | undefined> {
  const [clusterID = '', accountID = ''] = account.split('/');
  const scope = { clusterID, accountID };
  const home = join(config.service.root, 'schedules', clusterID, accountID);
  await makeHome(home);
  metrics.addHome(home);
  const settings = { params };
  const recorded = await recordScheduleSettings({ home, name, settings });
  if (!recorded.ok) {
    log.error({ account, schedule: name, reason: recorded.error }, 'could not schedule a pipeline');
    return undefined;
  }
  const change = recorded.value && describeSettingsChange(recorded.value, settings);
  if (change !== undefined) {
    const message = `its settings have changed: ${change}`;
    logEvent(log, { account, event: { type: 'scheduleChanged', schedule: name, at: Date.now(), message } });
  }
  const opened = openSchedule({
    ...{ plan, file, scope, home, baseDir, settings },
    service: metrics.measure(service.inProcess({ userId: 'schedules', accounts: [scope] })),
    reporter: metrics.reporter,
    ...(traces && { traces }),
    secrets: createSecretReader(home, context.env),
    onEvent(event) {
      logEvent(log, { account, event });
      if (event.type === 'scheduledRunSuspended') metrics.leave(event.runId);
    },
  });
  if (opened.ok) return opened.value;
  log.error({ account, schedule: name, reason: opened.error }, 'could not schedule a pipeline');
  return undefined;
}

function logEvent(
  log: HostSchedulesOptions['log'],
  { account, event }: { account: string; event: ScheduleEvent },
): void {
  const isTrouble =
    event.type === 'scheduleBlocked' ||
    event.type === 'scheduleChanged' ||
    event.type === 'plannedTimePostponed' ||
    event.type === 'plannedTimesMissed' ||
    (event.type === 'scheduledRunFinished' && event.status !== 'succeeded');
  log[isTrouble ? 'warn' : 'info']({ account, ...renderTimes(event) }, 'schedule');
}
