import { isTerminalPhase } from '@sluice/client';
import { describe, expect, it } from 'vitest';
import { ended, reach, start } from './rig.ts';
import type { UnderTest } from './service-under-test.ts';
import { until } from './until.ts';

/** How far along its life a container is; a phase may be left out, none may come again. */
const RANK: Readonly<Record<string, number>> = {
  Creating: 0,
  Pending: 1,
  Running: 2,
  Exiting: 3,
  Canceling: 3,
  Succeeded: 4,
  Failed: 4,
  Unknown: 4,
  Canceled: 4,
};

/** The phases of the protocol's table, and the times that belong to them. */
export function describePhases(open: UnderTest): void {
  describe('phases', () => {
    it('get: phases only go forward, as in the table', async () => {
      const sut = open();
      const ref = await start(open, { output: ['a', 'b'], end: 0 });
      const seen: string[] = [];
      await until('the end', async () => {
        const { phase = '' } = await sut.service.containers.get(ref);
        if (seen.at(-1) !== phase) seen.push(phase);
        return isTerminalPhase(phase);
      });
      const ranks = seen.map((it) => RANK[it] ?? -1);
      expect(ranks, seen.join(' → ')).toEqual([...ranks].sort((a, b) => a - b));
      expect(new Set(seen).size).toBe(seen.length);
      expect(ranks).not.toContain(-1);
      expect(seen.at(-1)).toBe('Succeeded');
    });

    it('get: exit code 0 is Succeeded, any other is Failed and told in the state', async () => {
      const sut = open();
      const [zero, three] = [await start(open, { end: 0 }), await start(open, { end: 3 })];
      expect((await ended(sut, zero)).phase).toBe('Succeeded');
      const failed = await ended(sut, three);
      expect(failed.phase).toBe('Failed');
      expect(failed.state).toMatch(/\b3\b/);
    });

    it('get: a running container has start time, node and run, and no end', async () => {
      const sut = open();
      const ref = await start(open, { end: 'never' });
      const running = await reach(sut, ref, 'Running');
      expect(running.startTime).toSatisfy(isTime);
      expect(running.createTime).toSatisfy(isTime);
      expect(running.nodeID).toMatch(/./);
      expect(running.runID).toMatch(/./);
      expect(running.state).toMatch(/./);
      expect(running).not.toHaveProperty('endTime');
      expect(running).not.toHaveProperty('runTime');
      await sut.service.containers.cancel(ref);
    });

    it('get: an ended container has its end and its run time in seconds', async () => {
      const sut = open();
      const ref = await start(open, { end: 0 });
      const it = await ended(sut, ref);
      expect([it.startTime, it.endTime]).toSatisfy((times: string[]) => times.every(isTime));
      const [created, started, end] = [it.createTime, it.startTime, it.endTime].map((time) => Date.parse(time ?? ''));
      expect(created).toBeLessThanOrEqual(started ?? 0);
      expect(started).toBeLessThanOrEqual(end ?? 0);
      expect(it.runTime).toBeCloseTo(((end ?? 0) - (started ?? 0)) / 1000, 0);
    });

    it('watch: hints at the end of a container, where there are hints at all', async ({ skip }) => {
      const sut = open();
      const hinted = new Set<string>();
      const stop = sut.service.watch(({ clusterID, accountID, containerID }) => {
        hinted.add([clusterID, accountID, containerID].join('/'));
      });
      if (stop === undefined) return skip('the service gives no hints');
      const ref = await start(open, { end: 0 });
      await ended(sut, ref);
      await until('the hint', async () => hinted.has([ref.clusterID, ref.accountID, ref.id].join('/')));
      stop();
      const before = hinted.size;
      await ended(sut, await start(open, { end: 0 }));
      expect(hinted.size).toBe(before);
    });

    it('get: an end stays as it is', async () => {
      const sut = open();
      const ref = await start(open, { end: 5 });
      const first = await ended(sut, ref);
      expect(await sut.service.containers.get(ref)).toEqual(first);
    });
  });
}

function isTime(text: unknown): boolean {
  return typeof text === 'string' && /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text));
}
