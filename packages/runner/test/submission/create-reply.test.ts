import { ServiceError, type ServiceErrorCode } from '@sluice/client';
import { describe, expect, test } from 'vitest';
import { classifyCreateFailure } from '../../src/submission/create-reply.ts';
import { judgeTerminalPhase } from '../../src/watch/judge-terminal-phase.ts';

describe('classifyCreateFailure', () => {
  test.each<[ServiceErrorCode, string]>([
    ['UNREACHABLE', 'notSent'],
    ['NO_REPLY', 'doubt'],
    ['INVALID_REPLY', 'doubt'],
    ['ABORTED', 'doubt'],
    ['ALREADY_EXISTS', 'doubt'],
    ['RESOURCE_EXHAUSTED', 'doubt'],
    ['UNAVAILABLE', 'doubt'],
    ['UNAUTHENTICATED', 'auth'],
    ['FAILED_PRECONDITION', 'notYet'],
    ['PERMISSION_DENIED', 'rejected'],
    ['NOT_FOUND', 'rejected'],
    ['INVALID_ARGUMENT', 'rejected'],
  ])('sorts %s as %s', (code, kind) => {
    expect(classifyCreateFailure(new ServiceError(code, 'no')).kind).toBe(kind);
  });

  test('throws on what is no reply at all', () => {
    expect(() => classifyCreateFailure(new TypeError('a bug'))).toThrow('a bug');
  });
});

describe('judgeTerminalPhase', () => {
  test.each([
    ['Succeeded', 'completed', { result: 'succeeded' }],
    ['Failed', 'exit code 3', { result: 'failed', class: 'failed', exitCode: 3 }],
    ['Failed', 'exit code 137: killed by SIGKILL', { result: 'failed', class: 'failed', exitCode: 137 }],
    ['Failed', 'out of memory (exit code 137)', { result: 'failed', class: 'oom', exitCode: 137 }],
    ['Failed', 'time limit exceeded (exit code 143)', { result: 'failed', class: 'timeout', exitCode: 143 }],
    ['Failed', 'connection timed out while pulling', { result: 'failed', class: 'failed' }],
    ['Failed', "could not start 'time limit exceeded'", { result: 'failed', class: 'failed' }],
    ['Failed', 'OOMKilled', { result: 'failed', class: 'oom' }],
    ['Failed', 'Out of memory: killed process 7', { result: 'failed', class: 'oom' }],
    ['Failed', "could not start 'oom': no such file or directory", { result: 'failed', class: 'failed' }],
    ['Failed', 'oom-test: not found', { result: 'failed', class: 'failed' }],
    ['Failed', 'image out of memory/oom:1 cannot be pulled', { result: 'failed', class: 'failed' }],
    ['Failed', '', { result: 'failed', class: 'failed' }],
    ['Unknown', 'the node is gone', { result: 'failed', class: 'infrastructure' }],
    ['Unknown', 'allocation ended: its time limit', { result: 'failed', class: 'infrastructure', isFree: true }],
    ['Canceled', '', { result: 'canceled' }],
  ])('judges %s (%s)', (phase, state, outcome) => {
    expect(judgeTerminalPhase({ phase, state })).toMatchObject(outcome);
  });

  test.each([
    ['Unknown', 'the allocation ended'],
    ['Failed', 'allocation ended'],
  ])('counts a retry after %s (%s)', (phase, state) => {
    expect(judgeTerminalPhase({ phase, state })).not.toHaveProperty('isFree');
  });

  test.each(['Creating', 'Pending', 'Running', 'Exiting', 'Canceling', 'Warming', ''])(
    'gives no verdict on %s',
    (phase) => {
      expect(judgeTerminalPhase({ phase, state: 'exit code 1' })).toBeUndefined();
    },
  );
});
