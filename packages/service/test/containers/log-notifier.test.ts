import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@sluice/client/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogNotifier } from '../../src/containers/log-notifier.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-growth-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('LogNotifier', () => {
  it('notifies each of thousands when its file has grown, and only then', async () => {
    const notifier = new LogNotifier(async () => undefined);
    const grown: number[] = [];
    const paths = Array.from({ length: 3000 }, (_, i) => join(directory, String(i % 100)));
    for (const path of new Set(paths)) writeFileSync(path, 'one\n');
    for (const [i, path] of paths.entries()) notifier.add(path, 4, () => grown.push(i));
    appendFileSync(paths[7]!, 'two\n');
    await until('the first are notified', async () => grown.length === 30);
    expect(grown.every((i) => i % 100 === 7)).toBe(true);
    for (const path of new Set(paths)) appendFileSync(path, 'three\n');
    await until('all are notified', async () => grown.length === 3000);
    expect(new Set(grown).size).toBe(3000);
  });

  it('notifies of a file that is created later, but not after it is canceled', async () => {
    const notifier = new LogNotifier(async () => undefined);
    const grown: string[] = [];
    const leave = notifier.add(join(directory, 'late'), 0, () => grown.push('left'));
    notifier.add(join(directory, 'late'), 0, () => grown.push('stayed'));
    leave();
    leave();
    writeFileSync(join(directory, 'late'), 'x');
    await until('it is notified', async () => grown.length > 0);
    notifier.add(join(directory, 'late'), 0, () => grown.push('came'));
    await until('the next is notified', async () => grown.length > 1);
    expect(grown).toEqual(['stayed', 'came']);
  });
});
