import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

interface Bundler {
  rolldown(options: object): Promise<{ write(options: object): Promise<unknown>; close(): Promise<void> }>;
}

/** A program that serves the root and socket given as its arguments, bundled from the current sources. */
export interface ServiceProgram {
  /** Resolves when the service accepts requests. */
  start(root: string, socketPath: string): Promise<ChildProcess>;
  remove(): void;
}

const ENTRY = `
import { createService, embeddedConfig, EMBEDDED_SCOPE } from '../../src/index.ts';
const [root, socketPath] = process.argv.slice(2);
const service = await createService({ config: { ...embeddedConfig({ root, cpu: 200 }), cancelGrace: '1s' } });
await service.listen({ socketPath, principal: { userId: 'chaos', accounts: [EMBEDDED_SCOPE] } });
process.stdout.write('ready\\n');
process.once('SIGTERM', () => service.close().then(() => process.exit(0)));
`;

export async function buildServiceProgram(): Promise<ServiceProgram> {
  // At the same depth in the package as `src/engines`, so that the launcher is found from there.
  const cache = fileURLToPath(new URL('../../.cache/', import.meta.url));
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'chaos-'));
  const entry = join(directory, 'entry.mjs');
  const file = join(directory, 'service.mjs');
  writeFileSync(entry, ENTRY);
  // The test runner's bundler, resolved through it, since it is not a direct dependency.
  const fromRunner = createRequire(createRequire(import.meta.url).resolve('vitest'));
  const fromVite = createRequire(fromRunner.resolve('vite'));
  const { rolldown } = (await import(pathToFileURL(fromVite.resolve('rolldown')).href)) as Bundler;
  const build = await rolldown({
    input: entry,
    platform: 'node',
    logLevel: 'silent',
    resolve: { conditionNames: ['sluice-source', 'node', 'import', 'default'] },
    external: (id: string) => /^[^./]/.test(id) && !id.startsWith('@sluice/'),
  });
  await build.write({ file, format: 'esm', codeSplitting: false });
  await build.close();
  return {
    start: (root, socketPath) => start(file, [root, socketPath]),
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }),
  };
}

function start(file: string, args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) =>
      reject(new Error(`the service ended with ${code ?? signal} before it was ready`)),
    );
    child.stdout.on('data', (bytes: Buffer) => {
      if (bytes.toString().includes('ready\n')) resolve(child);
    });
  });
}
