import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canBeApart, OWN_NETWORK } from '../e2e/workplace-rig.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EXAMPLES = join(ROOT, 'examples');
const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
/** Installing takes as long as disk and registry are slow. */
const HUNG_AFTER_MS = 600_000;
/** ES modules only: the resolutions of CommonJS and of old compilers are not promised. */
const PROMISED = ['node16-esm', 'bundler'];

/** Only with `CI=true`: it installs the packages twice, and needs a registry. */
const isThorough = process.env.CI === 'true';

const hasLauncher =
  ['x64', 'arm64'].includes(process.arch) &&
  (isThorough || spawnSync(process.env.CC ?? 'cc', ['--version']).status === 0);

const directory = mkdtempSync(join(tmpdir(), 'sluice-packages-'));
const [project, prefix] = [join(directory, 'project'), join(directory, 'prefix')];
let tarballs: string[];

describe.runIf(isThorough)('the tarballs', () => {
  beforeAll(() => {
    const packed = run(process.execPath, [join(ROOT, 'scripts/pack.mjs'), join(directory, 'tarballs')], ROOT);
    tarballs = packed.trim().split('\n');
    mkdirSync(project);
    const node = `@types/node@${devDependencies['@types/node']}`;
    // npm rejects a package for another processor where it is asked for by name.
    const fitting = tarballs.filter(
      (path) => !/launcher-/.test(path) || path.includes(`${process.platform}-${process.arch}`),
    );
    npm('install', ...fitting, node);
    npm('install', '--global', '--prefix', prefix, ...fitting);
  }, HUNG_AFTER_MS);

  afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));

  test('hold the compiled packages, their sources and the license, and nothing of the machine', () => {
    for (const tarball of tarballs) {
      const paths = run('tar', ['tzf', tarball], directory).trim().split('\n');
      expect(paths).toEqual(expect.arrayContaining(['package/package.json', 'package/README.md', 'package/LICENSE']));
      expect(paths.filter((path) => /\.compiled$|tsbuildinfo|node_modules|\/test\//.test(path))).toEqual([]);
    }
  });

  test('are right for publint and attw', async () => {
    for (const path of tarballs) {
      const data = readFileSync(path);
      const { messages } = await publint({
        pack: { tarball: data.buffer.slice(data.byteOffset, data.byteOffset + data.length) as ArrayBuffer },
        strict: true,
      });
      expect({ tarball: basename(path), messages }).toEqual({ tarball: basename(path), messages: [] });
      const checked = await checkPackage(createPackageFromTarballData(new Uint8Array(data)));
      const problems = !checked.types
        ? []
        : checked.problems.filter((problem) =>
            'resolutionKind' in problem ? PROMISED.includes(problem.resolutionKind) : true,
          );
      expect({ tarball: basename(path), problems }).toEqual({ tarball: basename(path), problems: [] });
    }
  });

  test.each([
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ])('a program compiles strictly with module %s and resolution %s', (module, moduleResolution) => {
    cpSync(join(EXAMPLES, 'library'), join(project, 'program'), { recursive: true });
    const names = tarballs.map((path) => JSON.parse(run('tar', ['xzOf', path, 'package/package.json'], directory)));
    const libraries = names.filter(({ exports }) => exports !== undefined);
    expect(libraries.length).toBeGreaterThan(4);
    const imports = libraries.map(({ name }, index) => `import * as library${index} from '${name}';`);
    const uses = `export default [${libraries.map((_, index) => `library${index}`)}];`;
    writeFileSync(join(project, 'program/all.ts'), `${[...imports, uses].join('\n')}\n`);
    const compilerOptions = { strict: true, target: 'es2023', module, moduleResolution, types: ['node'], noEmit: true };
    writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'project', type: 'module' }));
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['program'] }));
    run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc')], project);
  });

  test('a program imports a schema', () => {
    const program = `import schema from 'sluice/schemas/pipeline.json' with { type: 'json' }; console.log(schema.$id);`;
    expect(run(process.execPath, ['--input-type=module', '-e', program], project).trim()).toBe(
      'urn:sluice:schema:pipeline',
    );
  });

  describe.each([
    ['npm install', () => join(project, 'node_modules/.bin/sluice')],
    ['npm install --global', () => join(prefix, 'bin/sluice')],
  ])('after %s', (_how, command) => {
    test('the command tells its version', () => {
      expect(run(command(), ['--version'], directory).trim()).toBe(JSON.parse(leader()).version);
    });

    test('the command finds the schemas of its package', () => {
      expect(JSON.parse(run(command(), ['schema', 'run'], directory))).toMatchObject({ $id: 'urn:sluice:schema:run' });
    });

    test.runIf(hasLauncher)('the command finds the launcher of the optional package', () => {
      expect(run(command(), ['doctor'], directory)).toMatch(/^process +works: native launcher/m);
    });

    test('the command runs the example of the README without a network', () => {
      const place = mkdtempSync(join(directory, 'place-'));
      cpSync(join(EXAMPLES, 'digits'), place, { recursive: true });
      const args = ['run', 'pipeline.yaml', '--param', 'models=["knn-1"]', '--param', 'features=["pixels"]'];
      const [program = '', ...rest] = canBeApart() ? [...OWN_NETWORK, command()] : [command()];
      const stdout = run(program, [...rest, ...args], place);
      expect(stdout).toContain('digits succeeded');
      expect(readFileSync(join(place, 'results/report/report.html'), 'utf8')).toContain('</html>');
    });
  });
});

function leader(): string {
  return readFileSync(join(ROOT, 'packages/cli/package.json'), 'utf8');
}

/**
 * With the cache of the user who runs the tests: a second install of a package needs no download. A dependency that does
 * not support this version of Node.js fails.
 */
function npm(...args: readonly string[]): void {
  const options = [
    '--engine-strict',
    '--prefer-offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  run('npm', [...args, ...options], project);
}

/** Runs a program to its end and returns its output. If the program fails, the error contains the output. */
function run(program: string, args: readonly string[], cwd: string): string {
  const { CI, FORCE_COLOR, SLUICE_HOME, SLUICE_SERVICE, NODE_OPTIONS, ...env } = process.env;
  const own = { XDG_CONFIG_HOME: join(directory, 'config'), XDG_STATE_HOME: join(directory, 'state') };
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...env, ...own },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? status}\n${stdout}${stderr}`);
  return stdout;
}
