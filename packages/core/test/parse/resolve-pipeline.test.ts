import { describe, expect, it } from 'vitest';
import { parsePipeline } from '../../src/index.ts';

describe('resolvePipeline', () => {
  it('passes the values of expressions in a notification command as variables', () => {
    const parsed = parsePipeline({
      file: 'p.yaml',
      text: `version: 1\nname: a\nnotify: { on: [failed], command: "echo \${{ run.name }}" }\nsteps: { s: { command: [x] } }\n`,
    });
    expect(parsed.ok && parsed.value.pipeline.notify[0]?.command).toEqual([
      'env',
      'SLUICE_ARG_1=${{ run.name }}',
      'sh',
      '-c',
      'echo "${SLUICE_ARG_1}"',
    ]);
  });
});
