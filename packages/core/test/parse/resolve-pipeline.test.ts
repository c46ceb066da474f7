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
      '-eu',
      '-c',
      'echo "${SLUICE_ARG_1}"',
    ]);
  });

  it('resolves the short forms of outputs, needs and foreach', () => {
    const text = `version: 1
name: a
defaults: { outputs: [log] }
steps:
  make: { command: [x], outputs: [model], foreach: [a, { k: 1 }, 2.5] }
  use: { command: [x], needs: make, outputs: { log: /log } }
`;
    const parsed = parsePipeline({ file: 'p.yaml', text });
    const [make, use] = parsed.ok ? parsed.value.pipeline.steps : [];
    expect(make?.outputs).toEqual({
      log: { path: '/out/log', retain: false },
      model: { path: '/out/model', retain: false },
    });
    expect(make?.foreach).toEqual(['a', { k: 1 }, 2.5]);
    expect(use?.needs).toEqual([{ step: 'make', condition: 'succeeded' }]);
    expect(use?.outputs).toEqual({ log: { path: '/log', retain: false } });
  });
});
