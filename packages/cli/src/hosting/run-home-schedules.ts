import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { listSchedules, type ScheduleEvent } from '@sluice/home';
import type { HostMetrics } from '@sluice/host';
import type { RunSettings } from '@sluice/run';
import { type OpenSchedule, openSchedule } from '@sluice/runner';
import { omitServiceVariables } from '../connect/hosted-options.ts';
import { openService } from '../connect/open-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { wholeMessage } from '../context/command-rejection.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { loadScheduled } from '../pipeline/load-scheduled.ts';
import { countDiagnostics, renderDiagnostics } from '../pipeline/print-diagnostics.ts';
import { adviseUnrecorded, settingsToOptions } from './schedule-options.ts';

interface HomeSchedulesOptions {
  readonly home: string;
  readonly context: CommandContext;
  /** As the user has named the home. */
  readonly options: Pick<GlobalOptions, 'home'>;
  /** Receives one line, without its end. */
  readonly log: (line: string) => void;
  readonly metrics: HostMetrics;
}

/** The schedules of a home that this process runs. */
export interface HomeSchedules {
  /** Suspends their runs. */
  close(): Promise<void>;
}

/** A schedule whose first run comes later is noticed after this time at the latest. */
const SCAN_MS = 5_000;
/** A schedule that could not be run is tried again after this time. */
const AGAIN_MS = 60_000;

interface Opened {
  readonly schedule: OpenSchedule;
  readonly settings: RunSettings;
  readonly watched: Promise<void>;
  readonly close: () => Promise<void>;
}

/** A schedule that could not be run. */
interface Failed {
  readonly message: string;
  readonly until: number;
}

/**
 * Runs every schedule that a process of this home has run before, or will run, with its recorded settings, also after they
 * were changed. What cannot be run is logged and tried again. A schedule that another process runs is left to it until it
 * ends.
 */
export function runHomeSchedules(given: HomeSchedulesOptions): HomeSchedules {
  const schedules = new Map<string, Opened | Failed>();
  const closing = new AbortController();
  const scanning = scanRepeatedly(schedules, { ...given, signal: closing.signal });
  return {
    async close() {
      closing.abort();
      await scanning;
      await Promise.all([...schedules.values()].filter((one) => 'schedule' in one).map(closeOne));
    },
  };
}

type Scanning = HomeSchedulesOptions & { readonly signal: AbortSignal };

async function scanRepeatedly(schedules: Map<string, Opened | Failed>, given: Scanning): Promise<void> {
  const { signal, log } = given;
  while (!signal.aborted) {
    await scan(schedules, given).catch((error: unknown) => log(`could not read the schedules: ${error}`));
    await delay(SCAN_MS, undefined, { signal }).catch(() => {});
  }
}

async function closeOne({ schedule, watched, close }: Opened): Promise<void> {
  await schedule.close();
  await watched;
  await close();
}

/** Opens the schedules that are not open, and opens those again whose settings were changed. */
async function scan(schedules: Map<string, Opened | Failed>, given: Scanning): Promise<void> {
  for (const { name, file, settings } of await listSchedules(given)) {
    const known = schedules.get(name);
    const isOpen = known !== undefined && 'schedule' in known;
    const isDue = isOpen ? !isDeepStrictEqual(known.settings, settings) : (known?.until ?? 0) <= performance.now();
    if (file === undefined || !isDue) continue;
    if (isOpen) {
      given.log(`schedule ${name}: its settings were changed; opening it again`);
      await closeOne(known);
      schedules.delete(name);
    }
    const one =
      settings === undefined
        ? adviseUnrecorded(name, file)
        : await openOne(name, { ...given, file, settings }).catch((error: Error) => error.message);
    if (given.signal.aborted && typeof one !== 'string') await one.close();
    if (given.signal.aborted) return;
    schedules.set(name, typeof one === 'string' ? note(name, { message: one, known }, given) : watch(name, one, given));
  }
}

function note(
  name: string,
  { message, known }: { readonly message: string; readonly known: Opened | Failed | undefined },
  { log }: HomeSchedulesOptions,
): Failed {
  const isKnown = known !== undefined && 'message' in known && known.message === message;
  if (!isKnown) log(`schedule ${name}: could not run it: ${message}`);
  return { message, until: performance.now() + AGAIN_MS };
}

function watch(name: string, one: Omit<Opened, 'watched'>, { log }: HomeSchedulesOptions): Opened {
  const fault = (error: Error) => log(`schedule ${name}: stopped because of an error: ${error.stack}`);
  return { ...one, watched: one.schedule.watch().catch(fault) };
}

interface Found {
  readonly file: string;
  readonly settings: RunSettings;
}

async function openOne(
  name: string,
  { home, context: given, options: named, log, metrics, file, settings }: HomeSchedulesOptions & Found,
): Promise<Omit<Opened, 'watched'> | string> {
  const options = settingsToOptions(settings, named);
  const context = { ...given, env: omitServiceVariables(given.env) };
  const loaded = await loadScheduled(file, { context, options });
  if (!loaded.ok) {
    const { diagnostics, texts } = loaded.error;
    return `${countDiagnostics(diagnostics)} in ${file}: ${renderDiagnostics(diagnostics, texts)}`;
  }
  const { scheduled } = loaded.value;
  if (scheduled?.name !== name) return `${file} has no schedule of this name any more`;
  const opened = await openService(options, context);
  if (!opened.ok) return wholeMessage(opened.error);
  const { service, scope, traces, close } = opened.value;
  const { plan, baseDir } = scheduled;
  const schedule = openSchedule({
    ...{ plan, file, scope, home, baseDir, settings, order: { file, ...settings } },
    ...{ service: metrics.measure(service), reporter: metrics.reporter },
    secrets: createSecretReader(home, context.env),
    onEvent(event) {
      log(describeEvent(event));
      if (event.type === 'scheduledRunSuspended') metrics.leave(event.runId);
    },
    ...(traces && { traces }),
  });
  if (schedule.ok) return { schedule: schedule.value, settings, close };
  await close();
  return schedule.error;
}

function describeEvent({ schedule, type, ...event }: ScheduleEvent): string {
  const { at: _, ...facts } = event;
  return `schedule ${schedule}: ${type} ${JSON.stringify(facts)}`;
}
