import { describe, expect, it } from 'vitest';
import { firstProcessParts } from '../../../src/engines/docker/docker-first-process.ts';
import { commandLine, registryOf, withTag } from '../../../src/engines/docker/docker-image.ts';
import { digestIn } from '../../../src/engines/docker/docker-image-digest.ts';
import { parseJsonLines } from '../../../src/engines/docker/docker-json-lines.ts';
import { payloads } from '../../../src/engines/docker/docker-log.ts';
import { dockerOutcome } from '../../../src/engines/docker/docker-outcome.ts';
import { dockerRequest } from '../../../src/engines/docker/docker-request.ts';
import type { Launch } from '../../../src/engines/engine.ts';

const launch: Launch = {
  key: 'c1-abc',
  containerID: 'c1',
  clusterID: 'main',
  accountID: 'team',
  image: 'busybox:1',
  command: ['echo', 'a b'],
  env: { A: 'b=c' },
  ports: { web: 4000 },
  mounts: [{ root: '/data/v', subPath: 'x:y', kind: 'dir', target: '/in/data' }],
  limits: { cores: 2, memoryBytes: 2 ** 30, gpus: 2 },
  directory: '/d',
  logPath: '/d/log',
  options: {},
};

const sources = launch.mounts.map((mount) => ({ mount, path: '/data/v/x:y', identity: '1:2', submounts: [] }));

const PLAIN = { isPodman: false, container: { ulimits: {}, staysUser: false, pull: 'missing' as const }, security: [] };

describe('dockerRequest', () => {
  it('gives the instance type as limits, mounts as binds and GPUs as a device request', () => {
    expect(dockerRequest(launch, { argv: ['echo', 'a b'], sources, firstProcess: undefined, ...PLAIN })).toMatchObject({
      Image: 'busybox:1',
      Cmd: ['echo', 'a b'],
      Env: ['A=b=c'],
      Labels: { 'sluice.key': 'c1-abc', 'sluice.cluster': 'main' },
      HostConfig: {
        NetworkMode: 'host',
        CapDrop: ['NET_RAW'],
        NanoCpus: 2e9,
        Memory: 2 ** 30,
        Mounts: [{ Type: 'bind', Source: '/data/v/x:y', Target: '/in/data' }],
        DeviceRequests: [{ Count: 2, Capabilities: [['gpu']] }],
        LogConfig: { Type: 'json-file' },
      },
    });
  });

  it('makes a read-only mount so with all that is mounted in it, but for another volume at that place', () => {
    const mount = { root: '/data/v', subPath: '', kind: 'dir' as const, target: '/in', readOnly: true };
    const other = { root: '/data/w', subPath: '', kind: 'dir' as const, target: '/in/b' };
    const sources = [
      { mount, path: '/data/v', identity: '1:2', submounts: ['/a', '/b'] },
      { mount: other, path: '/data/w', identity: '1:3', submounts: [] },
    ];
    const options = { argv: [], sources, firstProcess: undefined, ...PLAIN };
    const { HostConfig } = dockerRequest({ ...launch, mounts: [mount, other] }, options) as {
      HostConfig: { Mounts: object[] };
    };
    const kept = { Type: 'bind', ReadOnly: true, BindOptions: { NonRecursive: true } };
    expect(HostConfig.Mounts).toEqual([
      { ...kept, Source: '/data/v', Target: '/in' },
      { ...kept, Source: '/data/v/a', Target: '/in/a' },
      { Type: 'bind', Source: '/data/w', Target: '/in/b' },
    ]);
  });

  it('puts the first process before the command, with what the mount points must show', () => {
    const firstProcess = firstProcessParts('/opt/first-process', { launch, sources });
    expect(dockerRequest(launch, { argv: ['sh', '-c', 'x'], sources, firstProcess, ...PLAIN })).toMatchObject({
      Entrypoint: ['/.sluice/first-process', '1:2', '/in/data', '--'],
      Cmd: ['sh', '-c', 'x'],
      HostConfig: {
        Mounts: [
          { Source: '/data/v/x:y', Target: '/in/data' },
          { Source: '/opt/first-process', Target: '/.sluice/first-process', ReadOnly: true },
          { Source: '/d/docker-record', Target: '/.sluice/record' },
          { Source: '/d/log', Target: '/.sluice/log' },
        ],
        LogConfig: { Type: 'none' },
      },
    });
  });

  it('leaves the command of the image alone where none is given', () => {
    const options = { argv: [], sources: [], firstProcess: undefined, ...PLAIN };
    expect(dockerRequest(launch, options)).not.toHaveProperty('Cmd');
  });
});

describe('digestIn', () => {
  const a = `sha256:${'a'.repeat(64)}`;
  it.each([
    ['busybox', 'busybox'],
    ['busybox:1.36', 'docker.io/library/busybox'],
    ['docker.io/busybox', 'busybox'],
    ['index.docker.io/library/busybox:1', 'busybox'],
    ['localhost:5000/team/x:2', 'localhost:5000/team/x'],
    ['tool:1', 'localhost/tool'],
    ['registry.example.org/a/b@sha256:00', 'registry.example.org/a/b'],
  ])('finds that of %s as %s', (image, repository) => {
    expect(digestIn([`other/busybox@sha256:1`, `${repository}@${a}`], image)).toBe(a);
  });

  it('finds none where the image came from another repository, or from none', () => {
    expect(digestIn([`other.example.org/busybox@${a}`, `library2/busybox@${a}`], 'busybox')).toBeUndefined();
    expect(digestIn([], 'busybox')).toBeUndefined();
  });
});

describe('dockerOutcome', () => {
  const state = {
    Status: 'exited',
    ExitCode: 0,
    OOMKilled: false,
    Error: '',
    StartedAt: '2026-01-01T00:00:00Z',
    FinishedAt: '2026-01-01T00:00:01Z',
  };
  it.each([
    [state, false, { kind: 'exited', exitCode: 0 }],
    [{ ...state, ExitCode: 137, OOMKilled: true }, false, { kind: 'exited', exitCode: 137, outOfMemory: true }],
    [{ ...state, ExitCode: 137 }, false, { kind: 'exited', exitCode: 137 }],
    [{ ...state, ExitCode: 143 }, true, { kind: 'stopped' }],
    [
      { ...state, StartedAt: '0001-01-01T00:00:00Z', Error: 'no such device' },
      false,
      { kind: 'rejected', reason: 'no such device' },
    ],
    [
      { ...state, ExitCode: 255, Error: 'daemon was restarted' },
      false,
      { kind: 'fault', reason: 'daemon was restarted' },
    ],
    [{ ...state, ExitCode: 255 }, false, { kind: 'exited', exitCode: 255 }],
  ])('reads %j, stopped %j', (given, stopped, end) => {
    expect(dockerOutcome({ state: given, record: undefined, stopped })?.end).toEqual(end);
  });

  const exited = (exitCode: number) => ({
    startedAt: 1,
    exit: { startedAt: 1, endedAt: 2, end: { kind: 'exited' as const, exitCode } },
  });
  it.each([
    ['before what the daemon says', { ...state, ExitCode: 255, Error: 'daemon was restarted' }, exited(6), 6],
    ['while the daemon says that it runs', { ...state, Status: 'running' }, exited(7), 7],
    ['while the daemon says nothing', undefined, exited(8), 8],
  ])('takes the record of the first process %s', (_when, given, record, exitCode) => {
    const ended = { endedAt: 2, end: { kind: 'exited', exitCode } };
    expect(dockerOutcome({ state: given, record, stopped: false })).toEqual(ended);
  });

  it('calls a first process without exit record killed, by memory where the daemon says so', () => {
    const record = { startedAt: 1, exit: undefined };
    const killed = { ...state, ExitCode: 137 };
    expect(dockerOutcome({ state: killed, record, stopped: false })?.end).toEqual({
      kind: 'fault',
      reason: 'the container was killed from outside (Docker Engine says 137)',
    });
    expect(dockerOutcome({ state: { ...killed, OOMKilled: true }, record, stopped: false })?.end).toMatchObject({
      exitCode: 137,
      outOfMemory: true,
    });
    expect(dockerOutcome({ state: killed, record, stopped: true })?.end).toEqual({ kind: 'stopped' });
    const bare = { state: killed, record: undefined, stopped: false };
    expect(dockerOutcome({ ...bare, killed: true })?.end).toMatchObject({ kind: 'fault' });
    expect(dockerOutcome(bare)?.end).toMatchObject({ kind: 'exited' });
    expect(dockerOutcome({ state: { ...state, Status: 'running' }, record, stopped: false })).toBeUndefined();
  });
});

describe('commandLine', () => {
  const image = { entrypoint: ['/entry', '-x'], command: ['serve'] };
  it.each([
    [image, [], ['/entry', '-x', 'serve']],
    [image, ['other', 'b'], ['/entry', '-x', 'other', 'b']],
    [{ entrypoint: [], command: ['sh'] }, [], ['sh']],
    [{ entrypoint: [], command: ['sh'] }, ['true'], ['true']],
  ])('of %j with %j is %j', (given, command, argv) => {
    expect(commandLine(given, command)).toEqual(argv);
  });
});

describe('registryOf and withTag', () => {
  it.each([
    ['busybox', 'docker.io', 'busybox:latest'],
    ['library/busybox:1', 'docker.io', 'library/busybox:1'],
    ['localhost:5000/a/b', 'localhost:5000', 'localhost:5000/a/b:latest'],
    ['reg.example.org/a@sha256:00', 'reg.example.org', 'reg.example.org/a@sha256:00'],
  ])('read %s as of %s, pulled as %s', (image, registry, pulled) => {
    expect([registryOf(image), withTag(image)]).toEqual([registry, pulled]);
  });
});

describe('payloads', () => {
  const frames = Buffer.concat(
    ['hello ', '', 'world'].map((text, index) => {
      const header = Buffer.alloc(8);
      header[0] = 1 + (index % 2);
      header.writeUInt32BE(text.length, 4);
      return Buffer.concat([header, Buffer.from(text)]);
    }),
  );

  it('takes frames apart wherever the chunks are cut', async () => {
    for (let size = 1; size <= frames.length; size++) {
      async function* chunks() {
        for (let at = 0; at < frames.length; at += size) yield frames.subarray(at, at + size);
      }
      const parts: Uint8Array[] = [];
      for await (const part of payloads(chunks())) parts.push(part);
      expect(Buffer.concat(parts).toString()).toBe('hello world');
    }
  });
});

describe('parseJsonLines', () => {
  it('gives the values whatever pieces they come in', async () => {
    const bytes = Buffer.from('{"status":"läuft"}\r\n\n{"id":2}');
    async function* pieces() {
      for (const byte of bytes) yield Uint8Array.of(byte);
    }
    const values: unknown[] = [];
    for await (const value of parseJsonLines(pieces())) values.push(value);
    expect(values).toEqual([{ status: 'läuft' }, { id: 2 }]);
  });
});
