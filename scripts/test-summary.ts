import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule } from 'vitest/node';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SLOWEST = 30;
/** A run of fewer files was chosen by hand, and needs no summary. */
const MIN_FILES = 10;

/** Something that tests need and that not every machine has. */
export interface Need {
  readonly name: string;
  /** Occurs in the source of each test file that needs it. */
  readonly pattern: RegExp;
  /** What this machine lacks of it; empty if nothing. */
  readonly missing: readonly string[];
}

/** A test file after the run. */
export interface FileResult {
  readonly path: string;
  readonly seconds: number;
  readonly tests: number;
  readonly skipped: number;
}

/** The slowest files, and in the last line which tests were left out and why. */
export function summarizeTests(
  files: readonly FileResult[],
  {
    needs,
    readSource,
    isSoak,
  }: { readonly needs: readonly Need[]; readonly readSource: (path: string) => string; readonly isSoak: boolean },
): string {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds || (a.path < b.path ? -1 : 1)).slice(0, SLOWEST);
  const lines = slowest.map(({ seconds, path }) => `${seconds.toFixed(1).padStart(7)} s  ${path}`);
  const counts = new Map<string, number>();
  for (const { path, skipped } of files) {
    if (skipped === 0) continue;
    const reason = findReason(readSource(path), needs);
    counts.set(reason, (counts.get(reason) ?? 0) + skipped);
  }
  const total = files.reduce((sum, { tests }) => sum + tests, 0);
  const left = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const reasons = [...counts].sort((a, b) => b[1] - a[1]).map(([reason, count]) => `${count} need ${reason}`);
  const parts = [`${left} of ${total} tests${left === 0 ? '' : ` (${reasons.join('; ')})`}`];
  if (!isSoak) parts.push('most random seeds and planted bugs (all of them with `pnpm soak`)');
  return `\nSlowest files:\n${lines.join('\n')}\n\nLeft out: ${parts.join(', and ')}`;
}

function findReason(source: string, needs: readonly Need[]): string {
  const found = needs.find(({ pattern, missing }) => missing.length > 0 && pattern.test(source));
  return found === undefined ? 'another kind of machine' : `${found.name} (missing: ${found.missing.join(', ')})`;
}

function findNeeds(): Need[] {
  const env = process.env;
  const engines = {
    Docker: 'SLUICE_TEST_DOCKER_SOCKET',
    Podman: 'SLUICE_TEST_PODMAN_SOCKET',
    Slurm: 'SLUICE_TEST_SLURM',
  };
  const clients = ['litmus', 'cadaver', 'rclone', 'lftp', 'sshfs', 'sftp', 'mount.davfs', 'chromium', 'apache2'];
  const canUnshare = spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status === 0;
  return [
    { name: 'time', pattern: /isThorough/, missing: process.env.CI === 'true' ? [] : ['CI=true'] },
    {
      name: 'engines',
      pattern: /SLUICE_TEST_|hasDocker|hasSlurm/,
      missing: Object.entries(engines).flatMap(([name, variable]) => (env[variable] === undefined ? [name] : [])),
    },
    {
      name: 'data',
      pattern: /itWithData|shared\//,
      missing: existsSync(join(ROOT, '../shared/data')) ? [] : ['../shared/data'],
    },
    {
      name: 'client programs',
      pattern: /client-program|apache|[cC]hromium/,
      missing: clients.filter((name) => !isInstalled(name)),
    },
    { name: 'namespaces', pattern: /[nN]amespaces/, missing: canUnshare ? [] : ['user namespaces'] },
    { name: 'root', pattern: /isRoot|get(e)?uid/, missing: process.getuid?.() === 0 ? [] : ['root'] },
  ];
}

function isInstalled(program: string): boolean {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return directories.some((directory) => existsSync(join(directory, program)));
}

/**
 * Prints the summary after a run of all tests. The variable SLUICE_TEST_LEFT_OUT names a file to which the paths of the
 * test files are written of which a test was left out, one per line.
 */
export function createSummaryReporter(): Reporter {
  return {
    onTestRunEnd(modules) {
      if (modules.length < MIN_FILES) return;
      const files = modules.map(readResult);
      const leftOut = process.env.SLUICE_TEST_LEFT_OUT;
      if (leftOut !== undefined) {
        const paths = files.filter(({ skipped }) => skipped > 0).map(({ path }) => path);
        writeFileSync(leftOut, paths.map((path) => `${path}\n`).join(''));
      }
      const readSource = (path: string) => readFileSync(join(ROOT, path), 'utf8');
      console.log(
        summarizeTests(files, {
          needs: findNeeds(),
          readSource,
          isSoak: process.env.SLUICE_SOAK === 'true',
        }),
      );
    },
  };
}

function readResult(module: TestModule): FileResult {
  const tests = [...module.children.allTests()];
  const { duration, collectDuration, setupDuration } = module.diagnostic();
  return {
    path: relative(ROOT, module.moduleId),
    seconds: (duration + collectDuration + setupDuration) / 1000,
    tests: tests.length,
    skipped: tests.filter((test) => test.result().state === 'skipped').length,
  };
}
