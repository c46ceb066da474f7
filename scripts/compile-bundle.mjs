// Runs the commonest commands once, so that what Node.js compiles of them is kept (docs/decisions/0010-bundle.md). Where one
// cannot run here, less is compiled, and nothing is wrong. Does nothing where Node.js keeps it by itself.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledName } from '../packages/cli/bin/load-command.js';
import { ROOT } from './workspace.mjs';

const COMMANDS = [['--help'], ['run', 'pipeline.yaml'], ['plan', 'pipeline.yaml'], ['show'], ['runs']];
const PIPELINE = `version: 1
name: compile
steps:
  make: { command: [sh, -c, 'echo 1 > /made/one'], outputs: { made: /made } }
  use: { command: ['true'], inputs: { made: make.made } }
`;

const isCompiled = existsSync(compiledName(join(ROOT, 'packages/cli/dist/bundle/main.cjs')));
if (!isCompiled && module.enableCompileCache === undefined) {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-compile-'));
  writeFileSync(join(cwd, 'pipeline.yaml'), PIPELINE);
  try {
    for (const args of COMMANDS) {
      const command = [join(ROOT, 'scripts/compile-command.mjs'), ...args, '--home', join(cwd, 'home')];
      spawnSync(process.execPath, command, { cwd, stdio: 'ignore', timeout: 30_000 });
    }
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
