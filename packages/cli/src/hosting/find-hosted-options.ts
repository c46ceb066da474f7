import { readRun } from '@sluice/home';
import { readMark } from '@sluice/host';
import type { HostedOptions } from '../connect/hosted-options.ts';
import { readRecordedCommand } from '../runs/recorded-command.ts';

/** The options that select the service of a run: those of its mark, else those of the command that started it. */
export async function findHostedOptions(home: string, runId: string): Promise<HostedOptions> {
  const mark = await readMark(home, runId);
  if (mark !== undefined) return mark.options;
  const report = await readRun(home, runId);
  if (!report.ok || report.value.rerun === undefined) return {};
  const { profile, service, account, cluster, cpu } = readRecordedCommand(report.value.rerun).options;
  const known = Object.entries({ profile, service, account, cluster, cpu });
  return Object.fromEntries(known.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}
