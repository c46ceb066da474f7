import { describe, expect, it } from 'vitest';
import { gresOfStep, gresOfType } from '../../../src/engines/slurm/gres-of.ts';

describe('gresOfStep', () => {
  it.each([
    ['nvme:1', 1, 'gpu:1,nvme:1'],
    ['nvme:1', 0, 'nvme:1'],
    ['gpu:a100:2,nvme:1', 2, 'gpu:a100:2,nvme:1'],
    ['gpu:a100:1,gpu:h100:1', 2, 'gpu:a100:1,gpu:h100:1'],
    ['gpu:3g.20gb:1', 1, 'gpu:3g.20gb:1'],
  ])('of %s and %i GPUs of the instance type is %s', (requested, gpus, gres) => {
    expect(gresOfStep(requested, gpus)).toBe(gres);
  });

  it.each([
    ['gpu:2', 1],
    ['gpu:1', 0],
    ['gpu:a100:1,gpu:1', 1],
    ['nvme:1,gpu:8', 1],
  ])('does not change the number of GPUs: %s where the instance type has %i', (requested, gpus) => {
    expect(() => gresOfStep(requested, gpus)).toThrow(/it has \d GPUs and the instance type \d; use an instance type/);
  });

  it.each(['gres:gpu:8', 'gpu', 'gpu:1k', 'GPU:8', 'gpu:a:b:8', ' gpu:8', 'gpu*8', 'x,', 'help', 'list', 'none'])(
    'accepts no other form of Slurm: %s',
    (requested) => {
      expect(() => gresOfStep(requested, 1)).toThrow(`is not of the form name:count`);
    },
  );
});

describe('gresOfType', () => {
  it('adds the GPUs of the instance type to what is configured, unless that names them', () => {
    expect(gresOfType(undefined, 0)).toBe('');
    expect(gresOfType(undefined, 2)).toBe('gpu:2');
    expect(gresOfType('nvme:1', 2)).toBe('gpu:2,nvme:1');
    expect(gresOfType('gpu:a100:2', 2)).toBe('gpu:a100:2');
  });
});
