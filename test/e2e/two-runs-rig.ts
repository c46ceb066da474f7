import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { CREDENTIALS, serveNew } from './served-rig.ts';
import { parseLines, until, type Workplace } from './workplace-rig.ts';

/** The large run, and the cluster on which both are. */
interface Setting {
  /** The clusters of `service.yaml`. */
  readonly clusters: string;
  /** Far more than the cluster has capacity for. */
  readonly cells: number;
  /** Of every step; absent: the machine's own files. */
  readonly image?: string;
}

/**
 * Starts a small run of the same account when the first cell of a large one has succeeded, and expects it to end before
 * half of them have.
 */
export async function expectSmallRunToPass(place: Workplace, { clusters, cells, image }: Setting): Promise<void> {
  const head = `version: 1\n${image === undefined ? '' : `defaults: { image: "${image}" }\n`}`;
  const items = JSON.stringify(Array.from({ length: cells }, (_, cell) => cell));
  const write = (name: string, steps: string) =>
    writeFileSync(join(place.directory, `${name}.yaml`), `${head}name: ${name}\nsteps:\n${steps}`);
  write('large', `  cell: { foreach: ${items}, command: [sleep, '0.5'] }\n`);
  write('small', "  first: { command: ['true'] }\n  second: { command: ['true'], needs: first }\n");

  const server = await serveNew(place, { clusters });
  try {
    const start = (...args: string[]) => place.start(args, { env: CREDENTIALS });
    const run = (file: string) => start('run', '--here', file, '--service', server.url, '--json');
    const large = run('large.yaml');
    await until(() => countSucceeded(large.stdout()) > 0 || large.process.exitCode !== null, 'the first cell');
    expect(await run('small.yaml').ended).toMatchObject({ exitCode: 0 });
    const before = countSucceeded(large.stdout());
    // Containers of a killed run and a killed service would stay on the engine.
    const { runId } = (await place.runs()).find(({ pipeline }) => pipeline === 'large')!;
    expect(await start('cancel', runId).ended).toMatchObject({ exitCode: 0 });
    await large.ended;
    expect(before).toBeLessThan(cells / 2);
  } finally {
    server.process.kill('SIGTERM');
    await server.ended;
  }
}

/** How many cells have succeeded by the events of a run. */
function countSucceeded(text: string): number {
  return parseLines(text.slice(0, text.lastIndexOf('\n') + 1)).filter(
    (event) => event.type === 'cellChanged' && event.status === 'succeeded',
  ).length;
}
