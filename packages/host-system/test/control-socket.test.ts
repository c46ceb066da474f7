import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isListening, openControlSocket, takeSocketName } from '../src/control-socket.ts';
import { killedSocket } from './killed-socket.ts';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-control-'));
  path = join(directory, '.control.sock');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('openControlSocket accepts connections until it is closed, and leaves no file', async () => {
  expect(await isListening(path)).toBe(false);
  const socket = await openControlSocket(path, (connection) => connection.end('here'));
  expect(await isListening(path)).toBe(true);
  expect(await connect(path).setEncoding('utf8').toArray()).toEqual(['here']);
  const closed = socket?.close();
  expect(existsSync(path)).toBe(false);
  await closed;
  expect(await isListening(path)).toBe(false);
});

test('openControlSocket replaces the socket of a killed process', async () => {
  await killedSocket(path);
  expect(await isListening(path)).toBe(false);
  const socket = await openControlSocket(path, (connection) => connection.destroy());
  expect(await isListening(path)).toBe(true);
  await socket?.close();
});

test('openControlSocket returns undefined if the file system has no sockets', async () => {
  expect(await openControlSocket(join(directory, 'absent', 'socket'), () => {})).toBeUndefined();
});

test('takeSocketName allows one holder at a time, and replaces the socket of a killed process', async () => {
  await killedSocket(path);
  const first = await takeSocketName(path);
  expect(first).toBeDefined();
  expect(await takeSocketName(path)).toBeUndefined();
  await first?.close();
  const second = await takeSocketName(path);
  expect(second).toBeDefined();
  await second?.close();
});

test('takeSocketName blocks no process if the file system has no sockets', async () => {
  writeFileSync(join(directory, 'file'), '');
  const taken = await takeSocketName(join(directory, 'file', 'socket'));
  expect(taken).toBeDefined();
  await taken?.close();
});
