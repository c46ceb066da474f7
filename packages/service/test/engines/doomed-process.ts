import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Launch } from '../../src/engines/engine.ts';
import type { EngineUnderTest } from './engine-under-test.ts';

interface Bundler {
  rolldown(options: object): Promise<{ write(options: object): Promise<unknown>; close(): Promise<void> }>;
}

/**
 * Launches in a process of its own, which is killed with -9 as soon as all are running: no handler runs, nothing is
 * flushed. The engine's sources are bundled for it, so that the built files need not be there or be fresh.
 */
export async function launchInDoomedProcess(subject: EngineUnderTest, launches: readonly Launch[]): Promise<void> {
  // Inside the package, where the bundle finds the package's dependencies.
  const cache = fileURLToPath(new URL('../../.cache/', import.meta.url));
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, 'doomed-'));
  try {
    const file = await bundle(subject.module, directory);
    await runUntilKilled(file, subject, launches);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function runUntilKilled(file: string, subject: EngineUnderTest, launches: readonly Launch[]): Promise<void> {
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, ...subject.environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.stdin.end(JSON.stringify(launches));
  const isRunning = await new Promise<boolean>((resolve) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('running\n')) resolve(true);
    });
    child.once('exit', () => resolve(text.includes('running\n')));
  });
  child.kill('SIGKILL');
  await exited;
  child.stdout.destroy();
  if (!isRunning) throw new Error('could not launch in the process that was to be killed');
}

async function bundle(module: string, directory: string): Promise<string> {
  const entry = join(directory, 'entry.mjs');
  const file = join(directory, 'doomed.mjs');
  await writeFile(entry, script(module));
  // The bundler that the test runner itself is built on; it is found through it, as it is no dependency of ours.
  const fromRunner = createRequire(createRequire(import.meta.url).resolve('vitest'));
  const fromVite = createRequire(fromRunner.resolve('vite'));
  const { rolldown } = (await import(pathToFileURL(fromVite.resolve('rolldown')).href)) as Bundler;
  const build = await rolldown({ input: entry, platform: 'node', logLevel: 'silent', external: /^[^./]/ });
  await build.write({ file, format: 'esm', codeSplitting: false });
  await build.close();
  return file;
}

function script(module: string): string {
  return `
    import create from ${JSON.stringify(module)};
    import { text } from 'node:stream/consumers';
    const launches = JSON.parse(await text(process.stdin));
    const running = new Set();
    const engine = create();
    await engine.open({
      report(key, observation) {
        if (observation.type === 'running') running.add(key);
        if (running.size === launches.length) process.stdout.write('running\\n');
      },
    });
    await Promise.all(launches.map((launch) => engine.launch(launch)));
    setInterval(() => {}, 1000);
  `;
}
