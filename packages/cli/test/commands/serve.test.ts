import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

test('serve says why it cannot, without a stack, where something is not as its configuration says', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const config = join(directory, 'service.yaml');
  const cluster = '{ id: one, engine: dokcer, instanceTypes: [{ id: small, cpu: 1, memory: 1GB }] }';
  writeFileSync(config, `root: ./data\nlisten: [{ host: 127.0.0.1, port: 0 }]\nclusters: [${cluster}]\n`);
  const context = createTestContext({ cwd: directory });
  expect(await runCommandLine(['serve', '--config', config], context)).toBe(1);
  expect(context.terminal.written().err).toMatch(
    /^could not serve: could not find the engine 'dokcer' of cluster one.*\n$/,
  );
});

test('serve names the setting where another process listens on its port', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const config = join(directory, 'service.yaml');
  const cluster = '{ id: one, engine: process, instanceTypes: [{ id: small, cpu: 1, memory: 1GB }] }';
  writeFileSync(config, `root: ./data\nlisten: [{ host: 127.0.0.1, port: ${port} }]\nclusters: [${cluster}]\n`);
  const context = createTestContext({ cwd: directory });
  expect(await runCommandLine(['serve', '--config', config, '--log-level', 'silent'], context)).toBe(1);
  expect(context.terminal.written().err).toBe(
    `could not serve: could not listen on 127.0.0.1 port ${port}: another process listens on that port; stop it, or change \`listen\` in the configuration\n`,
  );
});
