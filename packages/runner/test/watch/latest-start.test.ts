import { describe, expect, test } from 'vitest';
import { findLatestStart } from '../../src/watch/latest-start.ts';

const SUBMITTED = Date.parse('2026-11-22T10:00:00Z');
const MINUTE = 60_000;

/** What is known of a container that was submitted at `SUBMITTED`, and created then on the service's clock. */
const known = (createTime?: string) => ({
  submittedAt: SUBMITTED,
  container: createTime === undefined ? {} : { createTime },
});

describe('findLatestStart', () => {
  test.each([
    ['one clock', '2026-11-22T10:00:00.000Z', '2026-11-22T10:10:00.000Z', 4],
    ['a service whose clock is a day ahead', '2026-11-23T10:00:00.000Z', '2026-11-23T10:10:00.000Z', 4],
    ['offsets', '2026-11-22T18:00:00.000+08:00', '2026-11-22T10:10:00.000Z', 4],
    ['times without a zone', '2026-11-22T18:00:00.000', '2026-11-22T18:10:00.000', 4],
    ['whole seconds', '2026-11-22T10:00:00Z', '2026-11-22T10:10:00Z', 2000],
  ])('adds the time between creation and start to the submission: %s', (_, createTime, startTime, slackMs) => {
    expect(findLatestStart(known(createTime), { createTime, startTime })).toBe(SUBMITTED + 10 * MINUTE + slackMs);
  });

  test.each([
    ['no creation time', undefined, '2026-11-22T10:10:00Z'],
    ['no start time', '2026-11-22T10:00:00Z', undefined],
    ['a start before the creation', '2026-11-22T10:00:00Z', '2026-11-22T09:00:00Z'],
    ['a zone in only one of them', '2026-11-22T10:00:00Z', '2026-11-22T18:10:00'],
    ['a time that cannot be read', '2026-11-22T10:00:00Z', 'soon'],
    ['the year 1 for an unknown time', '2026-11-22T10:00:00Z', '0001-01-01T00:00:00Z'],
  ])('knows nothing by %s', (_, createTime, startTime) => {
    const seen = { ...(createTime && { createTime }), ...(startTime && { startTime }) };
    expect(findLatestStart(known(createTime), seen)).toBeUndefined();
  });

  test('knows nothing by a creation time that was another one before', () => {
    const times = { createTime: '2026-11-22T10:00:20.000Z', startTime: '2026-11-22T10:10:00.000Z' };
    expect(findLatestStart(known('2026-11-22T10:00:00.000Z'), times)).toBeUndefined();
    expect(findLatestStart(known(), times)).toBeUndefined();
  });

  test('knows nothing without a submission that was confirmed before, and without a latest creation', () => {
    const times = { createTime: '2026-11-22T10:00:00.000Z', startTime: '2026-11-22T10:10:00.000Z' };
    expect(findLatestStart({ container: { createTime: times.createTime } }, times)).toBeUndefined();
  });

  test('goes by the latest creation without a submission, with some minutes for a creation time that is read once', () => {
    const times = { createTime: '2026-11-22T18:00:00.000Z', startTime: '2026-11-22T18:10:00.000Z' };
    const unconfirmed = { createdBy: SUBMITTED, container: {} };
    expect(findLatestStart(unconfirmed, times)).toBe(SUBMITTED + 15 * MINUTE + 4);
    expect(findLatestStart(unconfirmed, { createTime: times.createTime })).toBeUndefined();
    expect(findLatestStart(unconfirmed, { ...times, startTime: '2026-11-22T17:59:00Z' })).toBeUndefined();
  });

  test('goes by the latest creation if it is before the submission, and never by a later one', () => {
    const createTime = '2026-11-22T10:00:00.000Z';
    const times = { createTime, startTime: '2026-11-22T10:10:00.000Z' };
    const start = (createdBy: number) => findLatestStart({ ...known(createTime), createdBy }, times);
    expect(start(SUBMITTED - MINUTE)).toBe(SUBMITTED + 9 * MINUTE + 4);
    expect(start(SUBMITTED + MINUTE)).toBe(SUBMITTED + 10 * MINUTE + 4);
  });
});
