import { describe, expect, it } from 'vitest';
import { dockerContainer, dockerName, keyOfName } from '../../../src/engines/docker/docker-container.ts';
import { dockerEnd } from '../../../src/engines/docker/docker-end.ts';
import { registryOf, withTag } from '../../../src/engines/docker/docker-image.ts';
import { payloads } from '../../../src/engines/docker/docker-log.ts';
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

describe('dockerContainer', () => {
  it('gives the instance type as limits, mounts as binds and GPUs as a device request', () => {
    expect(
      dockerContainer(launch, { source: (mount) => `${mount.root}/${mount.subPath}`, isPodman: false }),
    ).toMatchObject({
      Image: 'busybox:1',
      Cmd: ['echo', 'a b'],
      Env: ['A=b=c'],
      Labels: { 'sluice.key': 'c1-abc', 'sluice.cluster': 'main' },
      HostConfig: {
        NetworkMode: 'host',
        NanoCpus: 2e9,
        Memory: 2 ** 30,
        Mounts: [{ Type: 'bind', Source: '/data/v/x:y', Target: '/in/data' }],
        DeviceRequests: [{ Count: 2, Capabilities: [['gpu']] }],
      },
    });
  });

  it('leaves the command of the image alone where none is given', () => {
    expect(dockerContainer({ ...launch, command: [] }, { source: () => '', isPodman: false })).not.toHaveProperty(
      'Cmd',
    );
  });
});

describe('keyOfName', () => {
  it('gives back the key of a name of ours and nothing for others', () => {
    expect(keyOfName(`/${dockerName('c1-abc')}`)).toBe('c1-abc');
    expect(keyOfName('/postgres')).toBeUndefined();
  });
});

describe('dockerEnd', () => {
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
      { kind: 'refused', reason: 'no such device' },
    ],
    [
      { ...state, ExitCode: 255, Error: 'daemon was restarted' },
      false,
      { kind: 'fault', reason: 'daemon was restarted' },
    ],
    [{ ...state, ExitCode: 255 }, false, { kind: 'exited', exitCode: 255 }],
  ])('reads %j, stopped %j', (given, stopped, end) => {
    expect(dockerEnd(given, stopped)).toEqual(end);
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
