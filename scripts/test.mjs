// `npm test`: installs what is missing, then builds, lints, checks the house rules and runs every test, or those that the
// arguments of vitest select: `npm test -- packages/core`.
import { checkNode, handOver, installPackages, pnpmCommand } from './workspace.mjs';

checkNode();
installPackages();
handOver(process.execPath, pnpmCommand('run', 'ok', ...process.argv.slice(2)));
