import { describe, expect, it } from 'vitest';
import { parsePipeline } from '../../src/index.ts';

/** Code and message of everything that is wrong with a pipeline of the step `s`, with these lines beside it. */
function faults(step: string, beside = ''): string[] {
  const text = `version: 1\nname: a\n${beside}steps:\n  s: { command: [x], ${step} }\n`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  return parsed.ok ? [] : parsed.error.map(({ code, message }) => `${code}: ${message}`);
}

describe('ALL_CHECKS', () => {
  it('refuses texts that no program can be given', () => {
    expect(faults('env: { A: "b\\0" }')).toEqual([
      'wrong-value: `env.A` of step `s` is "b\\u0000", which is not a text without NUL characters',
    ]);
    expect(faults('outputs: { o: "/out\\0" }').map((fault) => fault.slice(0, 8))).toEqual(['bad-path']);
  });

  it('refuses names that are too long for a directory', () => {
    expect(faults(`outputs: { ${'o'.repeat(100)}: /out }`)).toEqual([]);
    expect(faults(`outputs: { ${'o'.repeat(101)}: /out }`).map((fault) => fault.slice(0, 8))).toEqual(['bad-name']);
  });

  it('refuses paths that leave their volume', () => {
    expect(faults('inputs: { a: volumes.v/b/../../c }', 'volumes: { v: {} }\n')).toEqual([
      'bad-path: the path in the volume `v` goes up by `..`',
    ]);
    expect(faults('inputs: { a: volumes.v/b..c/..d }', 'volumes: { v: {} }\n')).toEqual([]);
  });

  it('sees that differently written directories are one', () => {
    const outputs = 'outputs: { a: { from: s.o, publish: ./r/ }, b: { from: s.o, publish: q/../r } }\n';
    expect(faults('outputs: { o: /out }', outputs)).toEqual([
      'duplicate-mount: the outputs `a` and `b` are published to the same place, q/../r',
    ]);
  });

  it('refuses labels that no container could carry', () => {
    expect(faults('', 'labels: { team: research, sluice-run: x }\n')).toEqual([
      'bad-name: the label `sluice-run` is one of those that a run is found again by',
    ]);
    expect(faults('', `labels: { note: "${'x'.repeat(4097)}" }\n`)).toEqual([
      'out-of-range: the label `note` has more than 4096 characters',
    ]);
  });

  it('refuses approvals that are over at once', () => {
    const text = 'version: 1\nname: a\nsteps: { s: { approval: { timeout: 0s } } }\n';
    const parsed = parsePipeline({ file: 'p.yaml', text });
    expect(parsed.ok ? [] : parsed.error.map(({ message }) => message)).toEqual([
      '`approval.timeout` of step `s` is 0',
    ]);
  });

  it('checks the expressions of a command that a notification gives as a text, and hands their values over', () => {
    const notify = (text: string) => `notify: { on: [failed], command: ${JSON.stringify(text)} }\n`;
    expect(faults('', notify('echo ${{ run.nmae }}'))).toEqual(['unknown-name: `run` has no fact `nmae`']);
    const parsed = parsePipeline({
      file: 'p.yaml',
      text: `version: 1\nname: a\n${notify('echo ${{ run.name }}')}steps: { s: { command: [x] } }\n`,
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
