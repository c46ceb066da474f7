import { expect, test } from 'vitest';
import { parseSteps } from '../../../src/engines/slurm/slurm-step-list.ts';

test('parseSteps reads steps by their names, and leaves out what is no step of a program', () => {
  const lines = ['6632.batch|batch|n1', '6632.extern|extern|n[1-2]', '6632.0|allocation-1|n2', '6633+1.3|a|b|n[1-2]'];
  expect([...parseSteps(`${lines.join('\n')}\nnonsense\n`)]).toEqual([
    ['allocation-1', { id: '6632.0', node: 'n2' }],
    ['a|b', { id: '6633+1.3', node: 'n[1-2]' }],
  ]);
});
