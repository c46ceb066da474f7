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

  it('refuses to mount over what every container needs, however it is spelled', () => {
    for (const place of ['/proc', '/proc/self', '/dev/', '//dev/shm', '/x/../dev', '/./sys', '/sys/fs', '/.sluice']) {
      const message = expect.stringMatching(/^bad-path: `outputs.o` of step `s` cannot be mounted at \//);
      expect(faults(`outputs: { o: ${place} }`), place).toEqual([message]);
      expect(faults(`inputs: { o: { from: volumes.v, path: ${place} } }`, 'volumes: { v: {} }\n')).toHaveLength(1);
    }
    for (const place of ['/process', '/device/null', '/x/dev', '/.sluices', '/sluice/x']) {
      expect(faults(`outputs: { o: ${place} }`), place).toEqual([]);
    }
  });

  it('refuses a mount point that no kernel or runtime takes', () => {
    for (const place of [`/${'x'.repeat(256)}`, `/${'x/'.repeat(2048)}`, '/a\nb']) {
      const found = faults(`outputs: { o: ${JSON.stringify(place)} }`);
      expect(found.map((fault) => fault.slice(0, 8))).toEqual(['bad-path']);
    }
    expect(faults(`outputs: { o: /${'x'.repeat(255)} }`)).toEqual([]);
  });

  it('refuses what can be no image', () => {
    for (const image of ['', '--volume=/:/host', ' x', 'a\nb', 'a\tb']) {
      expect(faults(`image: ${JSON.stringify(image)}`), image).toHaveLength(1);
    }
    const plain = 'params: { tag: { type: string, default: x } }\n';
    for (const image of ['node:20', '/images/my image', 'docker-archive:/x', 'x:${{ params.tag }}']) {
      expect(faults(`image: ${JSON.stringify(image)}`, image.includes('$') ? plain : ''), image).toEqual([]);
    }
  });

  it('refuses paths that leave their volume', () => {
    expect(faults('inputs: { a: volumes.v/b/../../c }', 'volumes: { v: {} }\n')).toEqual([
      'bad-path: the path in the volume `v` goes up by `..`',
    ]);
    expect(faults('inputs: { a: volumes.v/b..c/..d }', 'volumes: { v: {} }\n')).toEqual([]);
  });

  it('refuses to cache a step that writes to a shared volume, and no other writable input', () => {
    const input = (from: string) => `inputs: { a: { from: ${from}, writable: true } }, cache: true`;
    const volumes = 'volumes: { own: {}, given: { id: v-1 }, local: { source: ./data } }\n';
    const wrong = (from: string) => faults(input(from), volumes).filter((fault) => !fault.startsWith('unused'));
    const message = 'conflicting-keys: step `s` has `cache`, and its input `a` writes to a shared volume';
    expect(wrong('volumes.own/sub')).toEqual([message]);
    expect(wrong('volumes.given')).toEqual([message]);
    expect(wrong('volumes.local')).toEqual([]);
  });

  it('refuses file patterns that lead out of the output, and those that match nothing', () => {
    const expecting = (pattern: string) =>
      faults(`outputs: { o: { path: /out, expect: [${JSON.stringify(pattern)}] } }`).map((fault) => fault.slice(0, 8));
    for (const pattern of ['*.bin', 'logs/**', 'a/..b/{x,y}.txt']) expect(expecting(pattern)).toEqual([]);
    for (const pattern of ['', '/out/*.bin', '../x', 'a/../b', 'a/..', 'x'.repeat(201)]) {
      expect(expecting(pattern), pattern).toEqual(['bad-path']);
    }
    expect(faults('outputs: { o: { path: /out, expect: [] } }')).toHaveLength(1);
  });

  it('refuses more mounts of one path than the protocol has keys for', () => {
    const volumes = 'volumes: { own: {}, one: { id: v-1 }, other: { id: v-1 }, local: { source: ./data } }\n';
    const of = (...from: string[]) => {
      const inputs = from.map((one, index) => `i${index}: ${one}`).join(', ');
      return faults(`inputs: { ${inputs} }`, volumes).filter((fault) => fault.startsWith('repeated-mount'));
    };
    const copy = '{ from: volumes.local, writable: true }';
    expect(of('volumes.own', 'volumes.own', 'volumes.own/sub', 'volumes.one', 'volumes.other/sub')).toEqual([]);
    expect(of('volumes.local', 'volumes.local', copy, copy, copy)).toEqual([]);
    expect(of('volumes.own/a', 'volumes.own/a', 'volumes.own/a', 'volumes.own/a')).toEqual([
      'repeated-mount: step `s` mounts `volumes.own/a` more than twice, which the protocol has no keys for',
    ]);
    expect(of('volumes.one', 'volumes.other')).toEqual([
      'repeated-mount: step `s` mounts `volumes.other` more than once, which the protocol has no keys for',
    ]);
  });

  it('sees that differently written directories are one', () => {
    const outputs = 'outputs: { a: { from: s.o, publish: ./r/ }, b: { from: s.o, publish: q/../r } }\n';
    expect(faults('outputs: { o: /out }', outputs)).toEqual([
      'duplicate-mount: the outputs `a` and `b` are published to the same place, q/../r',
    ]);
  });

  it('refuses outputs that would be published into each other', () => {
    const nested = (one: string, other: string) =>
      faults(
        'outputs: { o: /out }',
        `outputs: { a: { from: s.o, publish: ${one} }, b: { from: s.o, publish: ${other} } }\n`,
      ).map((fault) => fault.split(':')[0]);
    expect(nested('res', './res/x/../sub')).toEqual(['nested-publish']);
    expect(nested('res/sub/deep', 'res')).toEqual(['nested-publish']);
    expect(nested('.', 'res')).toEqual(['nested-publish']);
    expect(nested('/res', '/res/sub')).toEqual(['nested-publish']);
    expect(nested('res', 'res-sub')).toEqual([]);
    expect(nested('res', '../res/sub')).toEqual([]);
    expect(nested('.', '../other')).toEqual([]);
    expect(nested('.', '/other')).toEqual([]);
  });

  it('refuses `retain: false` of a volume that no run owns', () => {
    const volume = (text: string) => faults('inputs: { a: volumes.v }', `volumes: { v: ${text} }\n`);
    expect(volume('{ id: x, retain: false }')).toEqual([
      'conflicting-keys: volume `v` has `retain: false`, and it exists already',
    ]);
    expect(volume('{ source: ., retain: false }')).toHaveLength(1);
    for (const text of ['{ retain: false }', '{ retain: true }', '{ id: x, retain: true }', '{}'])
      expect(volume(text), text).toEqual([]);
  });

  it('refuses outputs of names that are reserved', () => {
    const reserved = (name: string) => faults(`outputs: { ${name}: /out }`);
    expect(reserved('_results')).toEqual(['bad-name: the output `_results` of step `s` has a name that is reserved']);
    expect(reserved('_ready')).toHaveLength(1);
    expect(reserved('results')).toEqual([]);
  });

  it('refuses integers that would be rounded, in every way of writing them', () => {
    const param = (text: string) => faults('', `params: { n: ${text} }\n`).map((fault) => fault.split(':')[0]);
    expect(param('9007199254740993')).toEqual(['bad-number']);
    expect(param('-9007199254740992')).toEqual(['bad-number']);
    expect(param('0x20000000000001')).toEqual(['bad-number']);
    expect(param('[1, {a: 9007199254740993}]')).toEqual(['bad-number']);
    for (const text of ['9007199254740991', '"9007199254740993"', '9007199254740993.5', '9e300', 'a9007199254740993'])
      expect(param(text), text).toEqual([]);
    const json = (text: string) =>
      parsePipeline({
        file: 'p.json',
        text: `{"version":1,"name":"a","params":{"n":${text}},"steps":{"s":{"command":["x"]}}}`,
      });
    expect(json('[0, "\\"9007199254740993", -9007199254740993]')).toMatchObject({
      error: [{ code: 'bad-number', message: expect.stringContaining('-9007199254740993') }],
    });
    expect(json('"9007199254740993"').ok).toBe(true);
    expect(json('9007199254740993.0').ok).toBe(true);
  });

  it('refuses labels that no container could carry', () => {
    expect(faults('', 'labels: { team: research, sluice-run: x }\n')).toEqual([
      'bad-name: the label `sluice-run` is one of those that a run is found again by',
    ]);
    expect(faults('', `labels: { note: "${'x'.repeat(4097)}" }\n`)).toEqual([
      'out-of-range: the label `note` has more than 4096 characters',
    ]);
  });

  it('compares statuses with their own words, and leaves variables of the same name alone', () => {
    const when = (text: string) => faults(`when: "\${{ ${text} }}"`, 'params: { runs: [] }\n');
    expect(when("params.runs.exists(run, run.status == 'odd')")).toEqual([]);
    expect(when("'odd' != run.status")).toEqual(['unknown-status: `run.status` is never "odd"']);
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
