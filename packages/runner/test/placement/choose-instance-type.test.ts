import { describe, expect, test } from 'vitest';
import { chooseInstanceType } from '../../src/placement/choose-instance-type.ts';

const type = (id: string, cores: number, gpus = 0, model?: string) => ({
  id,
  clusterID: 'c',
  cpu: { cores },
  memory: { sizeGB: cores * 4 },
  gpu: { count: gpus, ...(model !== undefined && { model }) },
});
const TYPES = [type('g8', 8, 1, 'A100'), type('c2', 2), type('c8', 8), type('c4', 4), type('g16', 16, 2, 'V100')];

describe('chooseInstanceType', () => {
  test.each([
    [undefined, 'c2'],
    [{ cpu: 3 }, 'c4'],
    [{ memoryBytes: 20e9 }, 'c8'],
    [{ gpu: 1 }, 'g8'],
    [{ gpuModel: 'v100' }, 'g16'],
    [{ gpu: 2, cpu: 4 }, 'g16'],
    [{ cpu: 100 }, undefined],
  ])('chooses for %j', (resources, id) => {
    expect(chooseInstanceType(TYPES, resources)?.id).toBe(id);
  });
});
