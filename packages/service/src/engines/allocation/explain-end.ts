import type { End } from '../engine.ts';
import { openSlurmRecords } from '../slurm/slurm-records.ts';

/** The end of a container, whose script may say why its image or its command was not started (`runtimeScript`). */
export async function explainEnd(directory: string, end: End): Promise<End> {
  if (end.kind !== 'exited' || end.exitCode === 0) return end;
  const records = openSlurmRecords(directory);
  const rejection = await records.readRejection().catch(() => undefined);
  if (rejection !== undefined) return { kind: 'rejected', reason: rejection };
  const fault = await records.readFault().catch(() => undefined);
  return fault === undefined ? end : { kind: 'fault', reason: fault };
}
