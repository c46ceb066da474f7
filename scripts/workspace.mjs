// Makes the checkout ready to run: pnpm, packages, build. Every part does nothing when it is done already,
// so that a second start is quick and needs no network.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { movePackageDirectories } from './package-directories.mjs';
import { listWorkspaceDirectories } from './workspace-packages.mjs';

const PNPM_VERSION = '10.34.8';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TOOLS = join(ROOT, '.tools');
const PNPM = join(TOOLS, 'node_modules/pnpm');
const STAMP = join(TOOLS, 'installed-packages');

/** What decides which packages are installed. */
const INSTALL_INPUTS = [
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'package.json',
  ...listWorkspaceDirectories(ROOT).map((directory) => `${directory}/package.json`),
];

/** Ends the process when this Node.js cannot run the workspace. */
export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  stop(`Sluice needs Node.js 20.19 or newer, and this is ${process.versions.node}`);
}

/** Installs pnpm into `.tools`, then the packages that the lock file names; both only where they are missing. */
export function installPackages() {
  if (pnpmVersion() !== PNPM_VERSION) {
    say(`installing pnpm ${PNPM_VERSION} into .tools`);
    const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
    // Not in the user's directory, which may be read-only.
    const cache = ['--cache', join(TOOLS, 'npm-cache')];
    quietly('npm', ['install', '--prefix', TOOLS, ...cache, ...options, `pnpm@${PNPM_VERSION}`]);
  }
  const wanted = installFingerprint();
  const present = existsSync(STAMP) && existsSync(join(ROOT, 'node_modules/.modules.yaml'));
  if (present && readFileSync(STAMP, 'utf8') === wanted) return;
  say('installing the packages of pnpm-lock.yaml');
  // pnpm asks before it replaces a node_modules directory of another layout; nobody is there to answer.
  quietly(process.execPath, [
    join(PNPM, 'bin/pnpm.cjs'),
    'install',
    '--frozen-lockfile',
    '--config.confirmModulesPurge=false',
    ...movePackageDirectories({ home: homedir(), env: process.env, tools: TOOLS }),
  ]);
  mkdirSync(TOOLS, { recursive: true });
  writeFileSync(STAMP, wanted);
}

/** Builds what `sluice run` needs: the native programs, and the command out of the sources, whose types are not checked. */
export function buildCommand() {
  if (!existsSync(join(ROOT, 'packages/cli/dist/bundle/main.cjs'))) say('building');
  for (const script of ['build-native.mjs', 'bundle-command.mjs'])
    quietly(process.execPath, [join(ROOT, 'scripts', script)]);
}

/** Builds the rest: packages that programs can import, the dashboard, and what Node.js compiles of the commonest commands. */
export function buildRest() {
  quietly(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-b', 'packages/cli']);
  for (const script of ['build-dashboard.mjs', 'compile-bundle.mjs']) {
    quietly(process.execPath, [join(ROOT, 'scripts', script)]);
  }
}

/** Runs a command with the terminal handed through, and ends as it ends. */
export function handOver(command, args) {
  const path = [join(TOOLS, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, PATH: path } });
  child.on('error', (error) => stop(`cannot run ${command}: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) {
    process.on(signal, () => {
      // A terminal has sent its own signals to the child too, and there a second Ctrl-C means more than one.
      if (signal === 'SIGTERM' || !process.stdin.isTTY) child.kill(signal);
    });
  }
}

export function pnpmCommand(...args) {
  return [join(PNPM, 'bin/pnpm.cjs'), ...args];
}

function pnpmVersion() {
  const file = join(PNPM, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}

/** Of what is installed, for a checkout that is at `root`: packages are linked by where they are. */
export function installFingerprint(root = ROOT) {
  const hash = createHash('sha256').update(`${root}\n${PNPM_VERSION}\n${process.arch}\n`);
  for (const file of INSTALL_INPUTS) hash.update(readFileSync(join(ROOT, file))).update('\0');
  return hash.digest('hex');
}

/** Runs a command whose output matters only when it fails. */
function quietly(command, args) {
  const { status, signal, error, output } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status === 0) return;
  process.stderr.write((output ?? []).filter(Boolean).join(''));
  stop(`${[command, ...args].join(' ')} failed: ${error?.message ?? signal ?? `exit code ${status}`}`);
}

function say(message) {
  process.stderr.write(`${message} …\n`);
}

function stop(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
