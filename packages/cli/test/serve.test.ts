import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../src/run-command-line.ts';
import { createTestContext } from './recording-terminal.ts';

test('serve says why it cannot, without a stack, where something is not as its configuration says', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const config = join(directory, 'service.yaml');
  const cluster = '{ id: one, engine: dokcer, instanceTypes: [{ id: small, cores: 1, memoryGB: 1 }] }';
  writeFileSync(config, `root: ./data\nlisten: [{ host: 127.0.0.1, port: 0 }]\nclusters: [${cluster}]\n`);
  const context = createTestContext({ cwd: directory });
  expect(await runCommandLine(['serve', '--config', config], context)).toBe(1);
  expect(context.terminal.written().err).toMatch(
    /^Could not serve: could not find the engine 'dokcer' of cluster one.*\n$/,
  );
});
