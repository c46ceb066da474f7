import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { createScheduler } from '../../src/scheduler/scheduler.ts';
import type { PlantedSchedulerBug } from './planted-bugs.ts';

const SOURCE = path.resolve(import.meta.dirname, '../../src/scheduler');
const COPIES = path.resolve(import.meta.dirname, '../../.cache', `planted-${process.pid}`);

/** The number of places where the bug could be. */
export async function countPlaces({ file, find }: PlantedSchedulerBug): Promise<number> {
  return (await readFile(path.join(SOURCE, file), 'utf8')).split(find).length - 1;
}

/** A copy of the scheduler with the bug in it. */
export async function plantBug(
  { file, find, replace }: PlantedSchedulerBug,
  number: number,
): Promise<typeof createScheduler> {
  const copy = path.join(COPIES, String(number));
  await cp(SOURCE, copy, { recursive: true });
  const place = path.join(copy, file);
  await writeFile(
    place,
    (await readFile(place, 'utf8')).replace(find, () => replace),
  );
  const module = await import(/* @vite-ignore */ path.join(copy, 'scheduler.ts'));
  return module.createScheduler;
}

/** Removes every copy that this process has made. */
export function removePlants(): Promise<void> {
  return rm(COPIES, { recursive: true, force: true });
}
