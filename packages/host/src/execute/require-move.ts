import { type CustodyMove, moveRun } from '@sluice/home';

/** Moves a run that this process has. Throws if that is illegal, which is a bug. */
export async function requireMove(home: string, runId: string, move: CustodyMove): Promise<void> {
  const moved = await moveRun({ home, runId }, move);
  if (!moved.ok) throw new Error(`could not ${move} run ${runId}: ${moved.error}`);
}
