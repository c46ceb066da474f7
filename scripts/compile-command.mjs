// Runs one `sluice` command and keeps what Node.js has compiled for it beside the files of the bundle, with what it had
// kept of commands before (docs/decisions/0010-bundle.md). The arguments are the command's.
import { renameSync, writeFileSync } from 'node:fs';
import { compiledName, loadCommand } from '../packages/cli/bin/load-command.js';

const scripts = new Map();
process.on('exit', () => {
  for (const [file, script] of scripts) {
    // Commands that start meanwhile read a whole file or none.
    writeFileSync(`${compiledName(file)}.new`, script.createCachedData());
    renameSync(`${compiledName(file)}.new`, compiledName(file));
  }
});
loadCommand((file, script) => scripts.set(file, script));
