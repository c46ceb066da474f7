import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { until } from '@sluice/client/contract';
import ssh2, { type Client, type SFTPWrapper } from 'ssh2';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readPackets } from '../../../src/volumes/sftp/packet-stream.ts';
import { generateHostKey } from '../../../src/volumes/sftp/sftp-server.ts';
import { openSftpRig, type SftpRig } from './sftp-rig.ts';

function connect(rig: SftpRig, password = 'secret-data'): Promise<Client> {
  const client = new ssh2.Client();
  onTestFinished(() => {
    client.end();
  });
  return new Promise((resolve, reject) => {
    client.on('ready', () => {
      client.setNoDelay(true);
      resolve(client);
    });
    client.on('error', reject);
    client.connect({ host: '127.0.0.1', port: rig.port, username: 'data', password });
  });
}

async function openSftp(rig: SftpRig): Promise<SFTPWrapper> {
  const client = await connect(rig);
  return new Promise((resolve, reject) => client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp))));
}

/** The status of a call, `0` for success. */
function statusOf(call: (done: (error?: Error | null) => void) => void): Promise<number> {
  return new Promise((resolve) => call((error) => resolve(error ? Number((error as { code?: unknown }).code) : 0)));
}

/** A channel with the subsystem, on which packets are written by hand. */
async function openRaw(rig: SftpRig) {
  const client = await connect(rig);
  const channel = await new Promise<ssh2.ClientChannel>((resolve, reject) => {
    client.subsys('sftp', (error, stream) => (error ? reject(error) : resolve(stream as ssh2.ClientChannel)));
  });
  const closed = closeOf(client);
  return { channel, closed };
}

/** The same, greeted, with the handle of a file of so many bytes. */
async function openRawFile(rig: SftpRig, bytes: number) {
  writeFileSync(join(rig.session.root, 'f'), Buffer.alloc(bytes));
  const { channel } = await openRaw(rig);
  channel.write(packet(1, 0, 0, 0, 3));
  await once(channel, 'data');
  channel.write(packet(3, 0, 0, 0, 1, 0, 0, 0, 1, 0x66, 0, 0, 0, 1, 0, 0, 0, 0));
  const [opened] = (await once(channel, 'data')) as [Buffer];
  return { channel, handle: opened.subarray(13) };
}

/** Unlike `once`, content with errors on the way: a connection that is cut has some. */
function closeOf(client: Client): Promise<void> {
  client.on('error', () => undefined);
  return new Promise((resolve) => client.on('close', () => resolve()));
}

function packet(...bytes: number[]): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes.length);
  return Buffer.concat([header, Buffer.from(bytes)]);
}

describe('createSftpServer', () => {
  test('rejects a wrong password, and after many of them also the right one', async () => {
    const rig = await openSftpRig();
    for (let round = 0; round < 11; round += 1) await expect(connect(rig, 'wrong')).rejects.toThrow(/authentication/);
    await expect(connect(rig)).rejects.toThrow(/authentication/);
    expect(rig.errors).toEqual([]);
  });

  test('gives no shell, no command and no tunnel', async () => {
    const rig = await openSftpRig();
    const client = await connect(rig);
    expect(await statusOf((done) => client.exec('id', done))).not.toBe(0);
    expect(await statusOf((done) => client.shell(done))).not.toBe(0);
    expect(await statusOf((done) => client.forwardOut('127.0.0.1', 1, '127.0.0.1', rig.port, done))).not.toBe(0);
    expect(await statusOf((done) => client.subsys('other', done))).not.toBe(0);
  });

  test('cuts the sessions of a revoked volume at once, and no others', async () => {
    const rig = await openSftpRig();
    const client = await connect(rig);
    const closed = closeOf(client);
    rig.access.revoke('other');
    await new Promise((resolve, reject) => client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp))));
    rig.access.revoke('data');
    await closed;
    await expect(connect(rig)).rejects.toThrow(/authentication/);
    expect(rig.errors).toEqual([]);
  });

  test('stays inside the volume, whatever path or link', async () => {
    const rig = await openSftpRig();
    const { root } = rig.session;
    const outside = join(root, '..', 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret'), 'secret');
    symlinkSync('../outside', join(root, 'link'));
    symlinkSync(outside, join(root, 'absolute'));
    writeFileSync(join(root, 'mine'), 'mine');
    const sftp = await openSftp(rig);
    for (const path of ['link', 'absolute', '../outside', '/../outside', outside]) {
      const secret = `${path}/secret`;
      const fresh = `${path}/new`;
      const calls: ((done: (error?: Error | null) => void) => void)[] = [
        (done) => sftp.open(secret, 'r', done),
        (done) => sftp.open(secret, 'r+', done),
        (done) => sftp.open(fresh, 'w', done),
        (done) => sftp.stat(secret, done),
        (done) => sftp.setstat(secret, { mode: 0 }, done),
        (done) => sftp.mkdir(fresh, done),
        (done) => sftp.rename('mine', fresh, done),
        (done) => sftp.rename(secret, 'stolen', done),
        (done) => sftp.ext_openssh_rename('mine', fresh, done),
        (done) => sftp.ext_openssh_hardlink(secret, 'stolen', done),
        (done) => sftp.unlink(secret, done),
        (done) => sftp.symlink('mine', fresh, done),
        (done) => sftp.opendir(path, done),
      ];
      const statuses = await Promise.all(calls.map(statusOf));
      expect([path, statuses.filter((status) => status === 0).length]).toEqual([path, 0]);
    }
    for (const target of ['/etc/passwd', '../outside/secret', 'x/../../y', '']) {
      expect(await statusOf((done) => sftp.symlink(target, 'new-link', done))).toBe(3);
    }
    expect(readdirSync(outside)).toEqual(['secret']);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
    expect(readdirSync(root).sort()).toEqual(['absolute', 'link', 'mine']);
    expect(rig.errors).toEqual([]);
  });

  test('REALPATH makes the volume the whole world', async () => {
    const rig = await openSftpRig();
    const sftp = await openSftp(rig);
    const real = (path: string) =>
      new Promise<string>((resolve, reject) =>
        sftp.realpath(path, (error, at) => (error ? reject(error) : resolve(at))),
      );
    expect([await real('.'), await real('../../a//b/./c/..'), await real('/')]).toEqual(['/', '/a/b', '/']);
  });

  test('CLOSE and SETSTAT do not overtake WRITEs sent before them', async () => {
    const rig = await openSftpRig();
    const sftp = await openSftp(rig);
    const handle = await new Promise<Buffer>((resolve, reject) =>
      sftp.open('f', 'w', (error, opened) => (error ? reject(error) : resolve(opened))),
    );
    const block = Buffer.alloc(30_000, 'x');
    const calls: Promise<number>[] = [];
    for (let index = 0; index < 100; index += 1) {
      calls.push(statusOf((done) => sftp.write(handle, block, 0, block.length, index * block.length, done)));
    }
    calls.push(statusOf((done) => sftp.close(handle, done)));
    calls.push(statusOf((done) => sftp.utimes('f', 1_000, 2_000, done)));
    expect(new Set(await Promise.all(calls))).toEqual(new Set([0]));
    const stats = await new Promise<ssh2.Stats>((resolve, reject) =>
      sftp.stat('f', (error, found) => (error ? reject(error) : resolve(found))),
    );
    expect([stats.size, stats.mtime]).toEqual([3_000_000, 2_000]);
  });

  test('RENAME replaces nothing, posix-rename does', async () => {
    const rig = await openSftpRig();
    writeFileSync(join(rig.session.root, 'a'), 'a');
    writeFileSync(join(rig.session.root, 'b'), 'b');
    const sftp = await openSftp(rig);
    expect(await statusOf((done) => sftp.rename('a', 'b', done))).toBe(4);
    expect(await statusOf((done) => sftp.ext_openssh_rename('a', 'b', done))).toBe(0);
    expect(readFileSync(join(rig.session.root, 'b'), 'utf8')).toBe('a');
  });

  test('bounds the open handles of a session', async () => {
    const rig = await openSftpRig();
    writeFileSync(join(rig.session.root, 'f'), '');
    const sftp = await openSftp(rig);
    const statuses: number[] = [];
    for (let index = 0; index < 258; index += 1) statuses.push(await statusOf((done) => sftp.open('f', 'r', done)));
    expect(statuses.filter((status) => status === 0).length).toBe(256);
  });

  test('connections that never log in shut out nobody at another address', async () => {
    const rig = await openSftpRig();
    const hello = async (localAddress: string) => {
      const socket = createConnection({ port: rig.port, host: '127.0.0.1', localAddress });
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => undefined);
      const [bytes] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      return String(bytes).startsWith('SSH-2.0-');
    };
    const silent = await Promise.all(Array.from({ length: 100 }, () => hello('127.0.0.1')));
    expect(silent.every(Boolean)).toBe(true);
    expect(await hello('127.0.0.1')).toBe(false);
    expect(await hello('127.0.0.2')).toBe(true);
  });

  test.each([
    ['no INIT first', packet(17, 0, 0, 0, 1, 0, 0, 0, 0)],
    ['an empty packet', Buffer.alloc(4)],
    ['a packet of four gigabytes', Buffer.alloc(4, 0xff)],
  ])('cuts a client that sends %s', async (_, bytes) => {
    const rig = await openSftpRig();
    const { channel, closed } = await openRaw(rig);
    channel.write(bytes);
    await closed;
    expect(rig.errors).toEqual([]);
  });

  test.each([
    ['an unknown request', [99, 0, 0, 0, 7], 8],
    ['a string longer than its packet', [17, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 1], 5],
    ['a name that is no UTF-8 and not there', [17, 0, 0, 0, 7, 0, 0, 0, 2, 0xff, 0xfe], 2],
    ['a name with NUL', [17, 0, 0, 0, 7, 0, 0, 0, 2, 0x61, 0], 4],
    ['a handle that is not open', [4, 0, 0, 0, 7, 0, 0, 0, 1, 1], 4],
  ])('answers %s with a status', async (_, bytes, status) => {
    const rig = await openSftpRig();
    const { channel } = await openRaw(rig);
    channel.write(packet(1, 0, 0, 0, 3));
    await once(channel, 'data');
    channel.write(packet(...bytes));
    const [reply] = (await once(channel, 'data')) as [Buffer];
    expect([reply[4], reply.readUInt32BE(5), reply.readUInt32BE(9)]).toEqual([101, 7, status]);
    expect(rig.errors).toEqual([]);
  });

  test.each([
    ['a request', [17]],
    ['a read, which is not waited for,', [5, 0, 0]],
  ])('ends the session of a client that sends %s without a number', async (_, bytes) => {
    const rig = await openSftpRig();
    const { channel } = await openRaw(rig);
    channel.write(packet(1, 0, 0, 0, 3));
    await once(channel, 'data');
    const ended = once(channel, 'close');
    channel.resume();
    channel.write(packet(...bytes));
    await ended;
    expect(rig.errors).toEqual([]);
  });

  test('answers reads in the order in which they were asked for', async () => {
    const { channel, handle } = await openRawFile(await openSftpRig(), 250_000);
    // A long one and a short one in turn: left to themselves, the short ones are ready first.
    const numbers = Array.from({ length: 200 }, (_, index) => index);
    for (const number of numbers) {
      const length = number % 2 === 0 ? [0, 3, 0, 0] : [0, 0, 0, 1];
      channel.write(packet(5, 0, 0, 0, number, 0, 0, 0, 8, ...handle, 0, 0, 0, 0, 0, 0, 0, 0, ...length));
    }
    const answered: number[] = [];
    for await (const answer of readPackets(channel as AsyncIterable<Buffer>)) {
      answered.push(answer.readUInt32BE(1));
      if (answered.length === numbers.length) break;
    }
    expect(answered).toEqual(numbers);
  });

  test('a client that asks for much and reads nothing does not fill our memory', async () => {
    const rig = await openSftpRig();
    const { channel, handle } = await openRawFile(rig, 1_000_000);
    channel.pause();
    const before = process.memoryUsage().rss;
    const read = packet(5, 0, 0, 0, 2, 0, 0, 0, 8, ...handle, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0);
    for (let index = 0; index < 10_000; index += 1) channel.write(read);
    // Two gigabytes were asked for; what the server could do of it, it has done by the time another login is through.
    await openSftp(rig);
    await openSftp(rig);
    expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(200);
  });

  test('gives a volume so many sessions and no more, and a session the place of one that ended', async () => {
    const rig = await openSftpRig();
    const first = await connect(rig);
    const open = (client: Client) =>
      new Promise<SFTPWrapper | undefined>((resolve) =>
        client.sftp((error, sftp) => resolve(error ? undefined : sftp)),
      );
    const opened = await Promise.all(Array.from({ length: 64 }, () => open(first)));
    expect(opened).not.toContain(undefined);
    const second = await connect(rig);
    expect(await open(second)).toBeUndefined();
    opened[0]?.end();
    await until('a free session', async () => (await open(second)) !== undefined);
    expect(rig.errors).toEqual([]);
  });

  test('lists a large directory whole, to several at once, and takes what vanishes meanwhile for gone', async () => {
    const rig = await openSftpRig();
    const wanted = Array.from({ length: 2_000 }, (_, index) => `file-${index}`);
    for (const name of wanted) writeFileSync(join(rig.session.root, name), '');
    writeFileSync(join(rig.session.root, '.sluice-tmp-x'), '');
    const sftp = await openSftp(rig);
    const list = () =>
      new Promise<string[]>((resolve, reject) =>
        sftp.readdir('/', (error, names) => (error ? reject(error) : resolve(names.map(({ filename }) => filename)))),
      );
    for (const names of await Promise.all([list(), list(), list()])) expect(names.sort()).toEqual(wanted.toSorted());
    const listing = list();
    for (const name of wanted) rmSync(join(rig.session.root, name));
    expect((await listing).every((name) => wanted.includes(name))).toBe(true);
    expect(await list()).toEqual([]);
  });
});

test('generateHostKey makes no key that a server cannot read', () => {
  for (let count = 0; count < 1_500; count += 1) {
    expect(ssh2.utils.parseKey(generateHostKey())).not.toBeInstanceOf(Error);
  }
});
