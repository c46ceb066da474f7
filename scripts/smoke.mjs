// Usage: node scripts/smoke.mjs [MAJOR]...   Runs a smoke set with other versions of Node.js (default: all that we support
// besides the oldest): `npm start`, the tests of the core package, and end-to-end tests that start programs of all kinds.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { checkNode, installPackages, pnpmCommand, ROOT } from './workspace.mjs';

const DEFAULT_MAJORS = ['22', '24', '26'];
const E2E = ['compiled-command', 'interrupt', 'library', 'reuse', 'serve', 'tutorial'].map(
  (name) => `test/e2e/${name}.test.ts`,
);

checkNode();
installPackages();
const given = process.argv.slice(2);
const rows = (given.length > 0 ? given : DEFAULT_MAJORS).map(smoke);
console.log(rows.map(({ version, results }) => `${version}: ${results.join(', ')}`).join('\n'));

/** Ends the process where one of the commands fails. */
function smoke(major) {
  const directory = installNode(major);
  const env = { ...process.env, PATH: [join(directory, 'bin'), process.env.PATH].join(delimiter) };
  const node = join(directory, 'bin/node');
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  const vitest = (...args) => [node, ...pnpmCommand('exec', 'vitest', 'run', ...args)];
  const commands = {
    'npm start': ['npm', 'start'],
    core: vitest('--project', 'core'),
    e2e: vitest('--project', 'e2e', ...E2E),
  };
  const results = Object.entries(commands).map(([name, [command, ...args]]) => {
    console.log(`== Node.js ${version}: ${name}`);
    const begun = Date.now();
    const { status } = spawnSync(command, args, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] });
    if (status !== 0) {
      console.error(`${name} failed with Node.js ${version}`);
      process.exit(1);
    }
    return `${name} ${Math.round((Date.now() - begun) / 1000)} s`;
  });
  return { version, results };
}

/** The newest version of a major that npm has, from a package that contains nothing but the programs. */
function installNode(major) {
  const prefix = join(ROOT, '.cache/node', major);
  mkdirSync(prefix, { recursive: true });
  const name = `node-linux-${process.arch}`;
  const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const { status } = spawnSync('npm', ['install', '--prefix', prefix, ...options, `${name}@${major}`], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) process.exit(1);
  return join(prefix, 'node_modules', name);
}
