// `npm test`: installs what is missing, then builds, lints, checks the house rules and runs every test.
import { checkNode, handOver, installPackages, pnpmCommand } from './workspace.mjs';

checkNode();
installPackages();
handOver(process.execPath, pnpmCommand('run', 'ok'));
