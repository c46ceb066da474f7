import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimService, visitOwner } from '../../src/embedded/claim-service.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-claim-'));
});

const place = () => ({ directory, visitPath: join(directory, 'visit.sock') });

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('claimService gives a directory to one claimant at a time', async () => {
  const first = await claimService(place(), async () => {});
  expect(first).toBeDefined();
  expect(await claimService(place(), async () => {})).toBeUndefined();
  await first?.release();
  const second = await claimService(place(), async () => {});
  expect(second).toBeDefined();
  await second?.release();
});

test('visitOwner finds nobody where nobody is', async () => {
  expect(await visitOwner(place())).toBeUndefined();
});

test('visitOwner comes back when the owner is reachable, and learns when the owner goes', async () => {
  const calls: string[] = [];
  const claim = await claimService(place(), async () => {
    calls.push('reachable');
  });
  const visit = await visitOwner(place());
  expect(calls).toEqual(['reachable']);
  const gone = new Promise<void>((resolve) => visit?.onOwnerGone(resolve));
  await claim?.release();
  await gone;
});

test('visitOwner finds nobody when the owner cannot be made reachable', async () => {
  const claim = await claimService(place(), () => Promise.reject(new Error('no port')));
  expect(await visitOwner(place())).toBeUndefined();
  await claim?.release();
});
