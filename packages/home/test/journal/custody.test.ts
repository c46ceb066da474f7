import { expect, test } from 'vitest';
import { type Custody, describeCustody, moveCustody, readCustody } from '../../src/journal/custody.ts';
import { createMemoryDisk } from '../memory-disk.ts';

const PLACE = { service: 'https://server.example', cluster: 'main', account: 'physics', publish: {} };
const OPTIONS = { profile: 'lab', cpu: 2 };

function createRun() {
  const disk = createMemoryDisk();
  const run = { disk, directory: '/home/runs/a' };
  const file = () => disk.files.get('/home/runs/a/custody.json');
  return { run, disk, file };
}

test('moveCustody keeps what a state needs, and a free run has no file', async () => {
  const { run, file } = createRun();
  expect(await moveCustody(run, 'detach', { options: OPTIONS })).toEqual({ ok: true, value: { state: 'free' } });
  expect(await readCustody(run)).toEqual({ state: 'host', options: OPTIONS });
  expect(await moveCustody(run, 'take')).toEqual({ ok: true, value: { state: 'host', options: OPTIONS } });
  expect(file()).toBeUndefined();
  await moveCustody(run, 'order', { place: PLACE });
  await moveCustody(run, 'accept', { place: { ...PLACE, runUrl: 'https://server.example/run' } });
  await moveCustody(run, 'collect');
  const place = { ...PLACE, runUrl: 'https://server.example/run' };
  expect(await readCustody(run)).toEqual({ state: 'collectingCopy', place });
  await moveCustody(run, 'keep');
  expect(await readCustody(run)).toEqual({ state: 'server', place });
});

test('moveCustody changes nothing by an illegal move, and says why', async () => {
  const { run, file } = createRun();
  await moveCustody(run, 'copy', { place: PLACE });
  const before = file();
  for (const move of ['detach', 'take', 'end', 'reject'] as const) {
    const error = 'the server https://server.example executes it';
    expect(await moveCustody(run, move)).toEqual({ ok: false, error });
  }
  expect(file()).toBe(before);
});

test.each(['{', '{}', '{"state":"none"}', '{"state":"server"}', '{"state":"host","options":{},"more":1}'])(
  'readCustody throws for a damaged file, so that no process executes the run: %s',
  async (text) => {
    const { run, disk } = createRun();
    disk.files.set('/home/runs/a/custody.json', Buffer.from(text));
    await expect(readCustody(run)).rejects.toThrow('/home/runs/a/custody.json');
    await expect(moveCustody(run, 'detach')).rejects.toThrow('it is damaged');
  },
);

test('describeCustody says of each state whether a process of the home may execute the run', () => {
  const states: readonly Custody[] = [
    { state: 'free' },
    { state: 'host', options: {} },
    { state: 'ordering', place: PLACE },
    { state: 'server', place: PLACE },
    { state: 'collecting' },
    { state: 'collectingCopy', place: PLACE },
  ];
  expect(states.filter((state) => describeCustody(state) === undefined).map(({ state }) => state)).toEqual([
    'free',
    'host',
  ]);
});
