import { expect, it } from 'vitest';
import { deriveInstanceTypes } from '../../../src/engines/slurm/slurm-instance-types.ts';
import { nodesIn } from '../../../src/engines/slurm/slurm-models.ts';

/** Partition, host, generic resources, time limit, cores, megabytes. */
const NODES = `main*|n1|(null)|infinite|4|4000
main*|n2|(null)|infinite|4|4000
cards|n3|gpu:A100:2(S:0-1)|1:00:00|8|64000
untyped|n4|gpu:3|1:00:00|6|6000
odd|n5|gpu:3090:2|1:00:00|3|500
`;

it.each([
  [undefined, ['cpu1-1gb', 'cpu1-2gb', 'cpu1-4gb', 'cpu2-2gb', 'cpu2-4gb', 'cpu4-4gb']],
  ['untyped', ['gpu1-cpu2-2gb', 'gpu2-cpu4-4gb', 'gpu3-cpu6-6gb']],
])('deriveInstanceTypes lists the parts of the nodes of partition %s', (partition, ids) => {
  const derived = deriveInstanceTypes(nodesIn(NODES, partition)).map(({ id }) => id);
  expect(derived.filter((id) => partition === undefined || id.startsWith('gpu'))).toEqual(ids);
});

it('deriveInstanceTypes names the type of GPUs, so that a job gets no others', () => {
  const types = deriveInstanceTypes(nodesIn(NODES, 'main,cards,untyped'));
  expect(types.filter(({ gpuModel }) => gpuModel !== undefined)).toEqual([
    { id: 'gpu1-a100-cpu4-33gb', cpu: 4, memory: '33GB', gpu: 1, gpuModel: 'A100', options: { gres: 'gpu:A100:1' } },
    { id: 'gpu2-a100-cpu8-67gb', cpu: 8, memory: '67GB', gpu: 2, gpuModel: 'A100', options: { gres: 'gpu:A100:2' } },
  ]);
  expect(new Set(types.map(({ id }) => id)).size).toBe(types.length);
});

it('deriveInstanceTypes omits nodes with less than a gigabyte', () => {
  expect(deriveInstanceTypes(nodesIn(NODES, 'odd'))).toEqual([]);
});

it('nodesIn counts GPUs whose type is a number', () => {
  expect(nodesIn(NODES, 'odd')[0]!.gpus).toEqual([{ type: '3090', count: 2 }]);
});
