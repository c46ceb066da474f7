import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  createCaller,
  type HostedServer,
  NEIGHBOR,
  neighborOf,
  type PreparedOrder,
  prepareOrder,
} from './hosted-rig.ts';
import { pause, until } from './workplace-rig.ts';

/** How a hostile account reaches a server. */
export interface HostileTransport {
  /** Sends one document; returns the statuses of all replies. */
  send(text: string): Promise<readonly number[]>;
}

const PIPELINE = `version: 1
name: neighbor
steps:
  first: { command: 'while [ ! -e /out/go ]; do sleep 0.1; done', outputs: { go: /out } }
  second: { command: 'true', needs: first }
`;

/** Another account, which must not notice anything. */
export interface Neighbor {
  /** The times of its requests in milliseconds, ascending. */
  readonly times: readonly number[];
  /** Ends its run; throws if any of its requests has failed, or the run does not succeed. */
  end(): Promise<void>;
}

/** Starts a run of the neighbor, which runs until `end`, and sends requests one after the other until then. */
export async function watchNeighbor(server: Omit<HostedServer, 'close'>): Promise<Neighbor> {
  const neighbor = neighborOf(server);
  const caller = createCaller(neighbor);
  const run = await prepareOrder(neighbor, PIPELINE, { scope: NEIGHBOR });
  expect((await caller.order(run)).status).toBe(200);
  await until(async () => (await isFirstRunning(caller, run)) === true, 'the run of the neighbor to start');
  const times: number[] = [];
  const statuses = new Set<number>();
  let hasEnded = false;
  const asking = (async () => {
    while (!hasEnded) {
      for (const path of ['/runs', `/runs/${run.runId}`, `/runs/${run.runId}/states`]) {
        const before = performance.now();
        statuses.add((await caller.json('GET', path)).status);
        times.push(performance.now() - before);
      }
      await pause(5);
    }
  })();
  return {
    get times() {
      return times.toSorted((a, b) => a - b);
    },
    async end() {
      const { status } = await caller.json('GET', `/runs/${run.runId}`);
      hasEnded = true;
      await asking;
      expect([status, ...statuses]).toEqual([200, 200]);
      expect(await (await fetch(`${neighbor.url}/readyz`)).json()).toMatchObject({ ready: true });
      letGo(neighbor, run);
      await until(async () => (await caller.status(run.runId)) === 'succeeded', 'the run of the neighbor to succeed');
    },
  };
}

async function isFirstRunning(caller: ReturnType<typeof createCaller>, { runId }: PreparedOrder): Promise<boolean> {
  return (await caller.json('GET', `/runs/${runId}/states`)).body.states?.[0] === 'r';
}

function letGo({ directory }: Pick<HostedServer, 'directory'>, { runId, workspaceId }: PreparedOrder): void {
  const volume = join(directory, 'data/clusters/other/volumes/physics', workspaceId);
  writeFileSync(join(volume, 'runs', runId, 'work/first/a1/go/go'), '');
}
