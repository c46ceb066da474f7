import { expect, test } from 'vitest';
import { readDataPort, unknownPort, unwrittenPort } from '../../src/runs/data-port.ts';

test('readDataPort tells an input and an output of one name apart', () => {
  expect(readDataPort({ input: 'data' })).toEqual({ kind: 'input', name: 'data' });
  expect(readDataPort({ output: 'data' })).toEqual({ kind: 'output', name: 'data' });
});

test.each([{}, { input: 'data', output: 'data' }])('readDataPort rejects %j', (query) => {
  expect(() => readDataPort(query)).toThrow(expect.objectContaining({ status: 400, reason: 'PARAMETER_INVALID' }));
});

test('the errors name what is missing', () => {
  const port = { kind: 'input', name: 'data' } as const;
  expect(unknownPort(port, 'the step')).toMatchObject({
    reason: 'INPUT_NOT_FOUND',
    message: 'the step has no input data',
  });
  expect(unknownPort({ ...port, kind: 'output' }, 'the step')).toMatchObject({ reason: 'OUTPUT_NOT_FOUND' });
  expect(unwrittenPort(port, 'the step').message).toBe(
    'the step has no files of the input data yet: nothing has written to it',
  );
});
