import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { createRedactor } from '../../src/session/create-redactor.ts';

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

  test('hides what services and programs have escaped, put on one line, or cut', () => {
    const values: Record<string, string> = { KEY: 'first "half"\n  second\\half', URL: 'a b/c?d' };
    const hidden = createRedactor(
      createHandPlan([createStep('a', {})], { secrets: ['KEY', 'URL'] }),
      (name) => values[name],
    );
    const { KEY = '', URL = '' } = values;
    const oneLine = KEY.replace(/\s+/g, ' ');
    for (const text of [KEY, JSON.stringify(KEY).slice(1, -1), oneLine, encodeURIComponent(URL)])
      expect(hidden.text(`<${text}>`)).toBe('<[secret]>');
    for (const form of [KEY, JSON.stringify(KEY).slice(1, -1), oneLine]) {
      for (let length = 4; length < form.length; length++)
        expect(hidden.text(`it said ${form.slice(0, length)}… and ${form.slice(0, 4)}`)).toBe(
          `it said [secret]… and firs`,
        );
    }
  });

  test('hides a secret that begins before the tail of a log, wherever it is cut', () => {
    const log = Buffer.from(`${'-'.repeat(30)}abcdef"\n${'+'.repeat(20)}`);
    for (let most = 1; most < log.length; most++) {
      const shown = redactor.tail(log, most).toString();
      expect(shown.length).toBeLessThanOrEqual(most);
      expect(`${'-'.repeat(30)}[secret]${'+'.repeat(20)}`.endsWith(shown)).toBe(true);
    }
    expect(redactor.tail(log, log.length).toString()).toBe(`${'-'.repeat(30)}[secret]${'+'.repeat(20)}`);
  });
});
