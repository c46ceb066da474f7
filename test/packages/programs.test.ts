import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
// @ts-expect-error A script, which has no types.
import { pnpmCommand } from '../../scripts/workspace.mjs';
import { readManifest, serveTarballs, type TarballRegistry } from './tarball-registry.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAMS = join(ROOT, 'test/packages/programs');
const NAMES = readdirSync(PROGRAMS).map((name) => name.replace(/\.ts$/, ''));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const YARN = 'yarn@1.22.22';
const HUNG_AFTER_MS = 600_000;
/** Managers differ in where they put packages, not in what a program does: `pnpm soak` runs all programs with each. */
const AFTER_THE_FIRST = process.env.SLUICE_SOAK === 'true' ? NAMES : ['run', 'run-api', 'submit'];
/** Only with `CI=true`: it packs and installs the packages, and needs a registry. */
const isThorough = process.env.CI === 'true';

mkdirSync(join(ROOT, '.cache'), { recursive: true });
const directory = mkdtempSync(join(tmpdir(), 'sluice-programs-'));
/** Beside the workspace's packages, so that `sluice` is found. */
const workspace = mkdtempSync(join(ROOT, '.cache/packed-programs-'));

afterAll(() => {
  for (const path of [directory, workspace]) rmSync(path, { recursive: true, force: true, maxRetries: 10 });
});

describe('the programs', () => {
  beforeAll(() => compile(workspace), HUNG_AFTER_MS);

  test.each(NAMES)('%s runs with the packages of the workspace', (name) => execute(workspace, name), HUNG_AFTER_MS);
});

describe.runIf(isThorough)('the programs with the packed packages', () => {
  let registry: TarballRegistry;
  let sluice: string;

  beforeAll(async () => {
    const packed = await run(process.execPath, [join(ROOT, 'scripts/pack.mjs'), join(directory, 'tarballs')], ROOT);
    const tarballs = packed.trim().split('\n');
    sluice = tarballs.find((path) => readManifest(path).name === 'sluice')!;
    registry = await serveTarballs(tarballs);
  }, HUNG_AFTER_MS);
  afterAll(() => registry?.close());

  test.each<[string, (project: string, packages: readonly string[]) => Promise<unknown>]>([
    ['npm', (project, packages) => run('npm', ['install', '--ignore-scripts', '--no-audit', ...packages], project)],
    [
      'pnpm',
      (project, packages) => {
        const store = `--store-dir=${join(directory, 'store')}`;
        return run(process.execPath, pnpmCommand('add', '--ignore-scripts', store, ...packages), project);
      },
    ],
    [
      'yarn',
      async (project, packages) => {
        const tools = join(directory, 'tools');
        await run('npm', ['install', '--prefix', tools, '--no-audit', YARN], directory);
        const yarn = [join(tools, 'node_modules/yarn/bin/yarn.js'), '--no-lockfile', '--non-interactive'];
        const cache = ['--cache-folder', join(directory, 'cache')];
        // As docs/library.md says for Node.js 20.
        const engines = Number.parseInt(process.versions.node, 10) < 22 ? ['--ignore-engines'] : [];
        return run(process.execPath, [...yarn, ...cache, ...engines, '--ignore-scripts', 'add', ...packages], project);
      },
    ],
  ])(
    'installed by %s, compile and run',
    async (manager, install) => {
      const project = join(directory, manager);
      mkdirSync(project);
      writeFileSync(join(project, '.npmrc'), `@sluice:registry=${registry.url}\n`);
      writeFileSync(join(project, 'package.json'), '{ "name": "project", "type": "module", "private": true }');
      const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
      await install(project, [sluice, `@types/node@${devDependencies['@types/node']}`]);
      await compile(project);
      for (const name of manager === 'npm' ? NAMES : AFTER_THE_FIRST) await execute(project, name);
    },
    HUNG_AFTER_MS,
  );
});

/** Compiles the programs in a project as strictly as users may. */
async function compile(project: string): Promise<void> {
  cpSync(PROGRAMS, join(project, 'programs'), { recursive: true });
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, target: 'es2023', module: 'nodenext', types: ['node'] },
    ...{ rootDir: 'programs', outDir: 'compiled' },
  };
  writeFileSync(join(project, 'package.json'), JSON.stringify({ ...readPackage(project), type: 'module' }));
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['programs'] }));
  expect(await run(process.execPath, [TSC, '--pretty', 'false'], project)).toBe('');
}

function readPackage(project: string): object {
  try {
    return JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  } catch {
    return {};
  }
}

/** Runs a compiled program in a directory of its own, which gets its home. */
async function execute(project: string, name: string): Promise<void> {
  const place = mkdtempSync(join(directory, 'place-'));
  await run(process.execPath, ['--enable-source-maps', join(project, `compiled/${name}.js`)], place);
}

/** Runs a program to its end and returns its output. If the program fails, the error contains the output. */
async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { CI, FORCE_COLOR, SLUICE_HOME, SLUICE_SERVICE, SLUICE_PROFILE, NODE_OPTIONS, ...env } = process.env;
  const own = { XDG_CONFIG_HOME: join(directory, 'config'), XDG_STATE_HOME: join(directory, 'state') };
  const child = spawn(program, args, { cwd, env: { ...env, ...own }, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { out: '', all: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.out += text;
    output.all += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.all += text;
  });
  const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${status}\n${output.all}`);
  return output.out;
}
