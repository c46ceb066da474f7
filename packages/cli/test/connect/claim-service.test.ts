import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimService, connectToOwner } from '../../src/connect/claim-service.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-claim-'));
});

const place = () => ({ directory, ownerPath: join(directory, 'owner.sock') });

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

test('connectToOwner finds no owner where there is none', async () => {
  expect(await connectToOwner(place().ownerPath, 30_000)).toBeUndefined();
});

test('connectToOwner resolves when the owner is reachable, and reports when it goes', async () => {
  const calls: string[] = [];
  const claim = await claimService(place(), async () => {
    calls.push('reachable');
  });
  const connection = await connectToOwner(place().ownerPath, 30_000);
  expect(calls).toEqual(['reachable']);
  const gone = new Promise<void>((resolve) => connection?.onOwnerGone(resolve));
  await claim?.release();
  await gone;
});

test('connectToOwner finds no owner when that one cannot be made reachable', async () => {
  const claim = await claimService(place(), () => Promise.reject(new Error('no port')));
  expect(await connectToOwner(place().ownerPath, 30_000)).toBeUndefined();
  await claim?.release();
});
