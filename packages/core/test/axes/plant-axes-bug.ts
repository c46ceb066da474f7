import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import type { ListedSubject } from './compare-listed-axes.ts';
import type { PlantedAxesBug } from './planted-axes-bugs.ts';

const SOURCE = path.resolve(import.meta.dirname, '../../src');
const COPIES = path.resolve(SOURCE, '../.cache', `planted-axes-${process.pid}`);
/** What plans and matches axes; all other modules are those of the package. */
const COPIED = ['batches', 'bind-listed', 'bind-where', 'expand-each', 'implied-axes', 'match-cells', 'plan-axes']
  .map((name) => `axes/${name}.ts`)
  .concat('plan/create-plan.ts');

/** The number of places where the bug could be. */
export async function countPlaces({ file, find }: PlantedAxesBug): Promise<number> {
  return (await readFile(path.join(SOURCE, file), 'utf8')).split(find).length - 1;
}

/** A copy of what plans and matches axes with the bug in it. */
export async function plantAxesBug({ file, find, replace }: PlantedAxesBug, number: number): Promise<ListedSubject> {
  const copy = path.join(COPIES, String(number));
  for (const module of COPIED) {
    let text = await readFile(path.join(SOURCE, module), 'utf8');
    if (module === file) {
      expect(text.split(find), `${file} has the place for the bug once`).toHaveLength(2);
      text = text.replace(find, () => replace);
    }
    const place = path.join(copy, module);
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(
      place,
      text.replace(/ from '(\.[^']+)'/g, (_, specifier) => ` from '${resolve(module, specifier)}'`),
    );
  }
  const load = (module: string) => import(/* @vite-ignore */ path.join(copy, module));
  const [{ createPlan }, { matchOf, matchedCells }, { batchesOfPlan, listedSteps }, { boundEdges, bindListed }] =
    await Promise.all(
      ['plan/create-plan.ts', 'axes/match-cells.ts', 'axes/batches.ts', 'axes/bind-listed.ts'].map(load),
    );
  return { createPlan, matchOf, matchedCells, batchesOfPlan, listedSteps, boundEdges, bindListed };

  function resolve(importer: string, specifier: string): string {
    const target = path.join(path.dirname(importer), specifier);
    return path.join(COPIED.includes(target) ? copy : SOURCE, target);
  }
}

/** Removes every copy that this process has made. */
export function removePlants(): Promise<void> {
  return rm(COPIES, { recursive: true, force: true });
}
