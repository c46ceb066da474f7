// `npm start`: from a bare clone to a finished run of the digits example. Arguments go to `sluice run`.
import { join } from 'node:path';
import { buildCommand, checkNode, handOver, installPackages, ROOT } from './workspace.mjs';

checkNode();
installPackages();
buildCommand();
const command = join(ROOT, 'packages/cli/bin/sluice.js');
handOver(process.execPath, [command, 'run', 'examples/digits/pipeline.yaml', ...process.argv.slice(2)]);
