import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { holdSignals } from '../../src/context/hold-signals.ts';
import { createTestContext } from '../recording-terminal.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('held signals reach the first listener, and later ones only once', () => {
  const context = createTestContext({ cwd: '/' });
  const held = holdSignals(context);
  context.send('SIGTERM');
  const heard: string[] = [];
  held.context.onSignal('SIGTERM', () => heard.push('first'));
  expect(heard).toEqual(['first']);
  held.context.onSignal('SIGTERM', () => heard.push('second'));
  context.send('SIGTERM');
  expect(heard).toEqual(['first', 'first', 'second']);
  held.release();
  vi.runAllTimers();
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends the process with %d if nobody listens in time', (signal, exitCode) => {
  const context = createTestContext({ cwd: '/' });
  holdSignals(context);
  context.send(signal);
  expect(() => vi.runAllTimers()).toThrow(`left with ${exitCode}`);
});

test('a second SIGINT ends the process at once, and SIGHUP never', () => {
  const context = createTestContext({ cwd: '/' });
  holdSignals(context);
  context.send('SIGHUP');
  context.send('SIGINT');
  expect(() => context.send('SIGINT')).toThrow('left with 130');
});

test('nothing is held after the release', () => {
  const context = createTestContext({ cwd: '/' });
  const held = holdSignals(context);
  context.send('SIGTERM');
  held.release();
  context.send('SIGINT');
  context.send('SIGINT');
  vi.runAllTimers();
});
