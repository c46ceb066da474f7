import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/session/create-redactor.ts';
import { createHandPlan, createStep } from '../simulation/plans.ts';

const VALUES: Record<string, string> = { LONG: 'abcdef"\n', PART: 'abcd', SHORT: 'x', WORD: 'event' };
const plan = createHandPlan([createStep('a', { secrets: ['LONG', 'PART'] })], { secrets: ['SHORT', 'WORD', 'ABSENT'] });
const redactor = createRedactor(plan, (name) => VALUES[name]);

describe('createRedactor', () => {
  test('hides the longest first, and nothing that is in everything', () => {
    expect(redactor.text('<abcdef"\n> <abcd> <x>')).toBe('<[secret]> <[secret]> <x>');
  });

  test('hides in bytes and keeps every other byte', () => {
    const bytes = Buffer.concat([Buffer.from([0xff, 0x00]), Buffer.from('abcd'), Buffer.from([0x80])]);
    expect(redactor.bytes(bytes)).toEqual(
      Buffer.concat([Buffer.from([0xff, 0x00]), Buffer.from('[secret]'), Buffer.from([0x80])]),
    );
    const clean = Buffer.from('clean');
    expect(redactor.bytes(clean)).toBe(clean);
  });

  test('hides in what containers and services said, and leaves the words that a record is made of', () => {
    const record = {
      kind: 'event',
      event: { type: 'ended', outcome: { result: 'failed', message: 'an event with abcd' } },
      facts: { results: { said: ['abcd', 1] } },
    };
    expect(redactor.data(record)).toEqual({
      kind: 'event',
      event: { type: 'ended', outcome: { result: 'failed', message: 'an [secret] with [secret]' } },
      facts: { results: { said: ['[secret]', 1] } },
    });
    // The name of a result is ours, the names in its value are not.
    expect(redactor.data({ results: { event: { 'my abcd': [{ abcd: 1 }] } } })).toEqual({
      results: { event: { 'my [secret]': [{ '[secret]': 1 }] } },
    });
  });
});
