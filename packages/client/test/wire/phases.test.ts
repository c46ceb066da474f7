import { CONTAINER_PHASES, containerSchema, identifierSchema, isTerminalPhase, VOLUME_PHASES } from '@sluice/client';
import { describe, expect, it } from 'vitest';

describe('wire', () => {
  it('isTerminalPhase: four phases end a container, an unknown one does not', () => {
    const terminal = CONTAINER_PHASES.filter(isTerminalPhase);
    expect(terminal).toEqual(['Succeeded', 'Failed', 'Unknown', 'Canceled']);
    for (const phase of ['', 'succeeded', 'Completed', 'Canceling', '__proto__'])
      expect(isTerminalPhase(phase)).toBe(false);
  });

  it('phases: all of the protocol, each once', () => {
    expect([new Set(CONTAINER_PHASES).size, new Set(VOLUME_PHASES).size]).toEqual([9, 7]);
  });

  it('identifierSchema: takes [a-z0-9-]+ of up to 63 characters', () => {
    for (const id of ['a', '-', '0', 'a-1', 'x'.repeat(63)])
      expect(identifierSchema.safeParse(id).success, id).toBe(true);
    for (const id of ['', 'A', 'a_b', 'a.b', 'a b', 'a\n', 'ä', 'x'.repeat(64)]) {
      expect(identifierSchema.safeParse(id).success, JSON.stringify(id)).toBe(false);
    }
  });

  it('containerSchema: keys that mean something to JavaScript are only keys', () => {
    const body = JSON.parse('{"id":"a","clusterID":"c","accountID":"x","labels":{"__proto__":"l","constructor":"k"}}');
    const parsed = containerSchema.parse(body);
    expect(Object.getPrototypeOf(parsed.labels ?? {})).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
