// `npm start`: from a bare clone to a finished run of the digits example. Arguments go to `sluice run`.
import { join } from 'node:path';
import { build, checkNode, handOver, installPackages, ROOT } from './workspace.mjs';

checkNode();
installPackages();
build();
const command = join(ROOT, 'packages/cli/bin/sluice.js');
handOver(process.execPath, [command, 'run', 'examples/digits/pipeline.yaml', ...process.argv.slice(2)]);
