import { describe, expect, it } from 'vitest';
import { costOfMatch, costOfPattern, matchText } from '../../src/expressions/match-text.ts';

describe('matchText', () => {
  it('finds a part of the text, also for more patterns than are kept', () => {
    for (let round = 0; round < 2; round++) {
      for (let at = 0; at < 50; at++) {
        expect(matchText(`a-${at}`, `^a-${at}$`)).toBe(true);
        expect(matchText(`a-${at}x`, `^a-${at}$`)).toBe(false);
      }
    }
    expect(matchText('x'.repeat(2000), `^x{${1000}}`)).toBe(true);
    expect(() => matchText('a', '(')).toThrow('missing closing');
  });
});

describe('costOfPattern', () => {
  it('counts repetitions, also nested ones, and tables of Unicode', () => {
    expect(costOfPattern('^[a-z]+$')).toBeLessThan(50);
    expect(costOfPattern('(a{10}){100}')).toBeGreaterThan(10 * costOfPattern('(a{10})'));
    expect(costOfPattern('(a{10}){100}')).toBe(costOfPattern('(a{100}){10}'));
    expect(costOfPattern('\\pL')).toBeGreaterThan(1000);
  });
});

describe('costOfMatch', () => {
  it('grows with the text and the program', () => {
    expect(costOfMatch(2000, '[ab]*a')).toBe(2 * costOfMatch(1000, '[ab]*a'));
    expect(costOfMatch(1000, '([a-z]?){900}')).toBeGreaterThan(300_000);
    expect(costOfMatch(10, '^[0-9]{4}-[0-9]{2}$')).toBeLessThan(100);
  });
});
