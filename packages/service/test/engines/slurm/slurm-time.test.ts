import { describe, expect, it } from 'vitest';
import { partitionLimit } from '../../../src/engines/slurm/slurm-models.ts';
import { timeLimitOf } from '../../../src/engines/slurm/slurm-time.ts';

const MINUTE = 60_000;
const FREE = { configured: undefined, ofPartition: undefined };

describe('timeLimitOf', () => {
  it.each([
    ['a timeout', { ms: 90 * MINUTE, required: false }, FREE, 91],
    ['part of a minute', { ms: 1, required: true }, FREE, 2],
    ['no request', undefined, FREE, undefined],
    ['no request with a configured limit', undefined, { configured: 90_001, ofPartition: 1 }, 2],
    ['a timeout beyond the configured limit', { ms: 90 * MINUTE, required: false }, { ...FREE, configured: 3e6 }, 50],
    ['a timeout beyond that of the partition', { ms: 9e9, required: false }, { ...FREE, ofPartition: 119_000 }, 1],
    [
      'a timeout where the partition allows less than a minute',
      { ms: 9e9, required: false },
      { ...FREE, ofPartition: 1 },
      1,
    ],
    ['a time that only the grace makes too long', { ms: 3e6, required: true }, { ...FREE, configured: 3e6 }, 50],
    ['a time within all limits', { ms: 3e6, required: true }, { configured: 9e6, ofPartition: 6e6 }, 51],
  ])('is for %s', (_, time, limits, minutes) => {
    expect(timeLimitOf(time, limits)).toBe(minutes);
  });

  it('rejects a required time beyond a limit, and says whose it is', () => {
    const time = { ms: 51 * MINUTE, required: true };
    const limits = { configured: 50 * MINUTE, ofPartition: 90 * MINUTE };
    expect(() => timeLimitOf(time, limits)).toThrow(
      "could not request 51 minutes from Slurm: the service's configuration ('timeLimit') allows 50; use less time or another instance type, or ask the administrator of the service",
    );
    expect(() => timeLimitOf(time, { ...limits, ofPartition: 10 * MINUTE })).toThrow("Slurm's partition allows 10;");
  });
});

describe('partitionLimit', () => {
  const nodes = [
    'main*|n1|(null)|infinite',
    'main*|n2|(null)|infinite',
    'short|n1|(null)|30:00',
    'long|n1|(null)|1-02:03:04',
    'day|n1|(null)|24:00:00',
    'odd|n1|(null)|n/a',
  ].join('\n');

  it.each([
    [undefined, undefined],
    ['short', 30 * MINUTE],
    ['day', 24 * 60 * MINUTE],
    ['long', (26 * 60 + 3) * MINUTE + 4000],
    ['short,long', (26 * 60 + 3) * MINUTE + 4000],
    ['short,main', undefined],
    ['odd', undefined],
    ['none', undefined],
  ])('of partition %s is %s', (partitions, ms) => {
    expect(partitionLimit(nodes, partitions)).toBe(ms);
  });
});
