import { expect, test } from 'vitest';
import { parseLauncherEvent } from '../../../src/engines/process/launcher-event.ts';
import { renderFrame } from '../../../src/engines/process/launcher-frame.ts';

test('parseLauncherEvent keeps the spaces of a reason and throws on what it does not know', () => {
  expect(parseLauncherEvent('rejected 7 could not  mount')).toEqual({
    type: 'rejected',
    id: '7',
    reason: 'could not  mount',
  });
  expect(parseLauncherEvent('ready cgroup1 affinity')).toEqual({ type: 'ready', memory: 'cgroup1', cores: 'affinity' });
  expect(() => parseLauncherEvent('hello 7')).toThrow("could not read the launcher's line 'hello 7'");
});

test('renderFrame counts bytes, not characters', () => {
  expect(renderFrame(['ж', ''])).toEqual(Buffer.from([4, 0, 0, 0, 0xd0, 0xb6, 0, 0]));
});
