// `npm run setup`: from a bare clone to a `sluice` command that can be called; runs nothing.
import { build, checkNode, installPackages } from './workspace.mjs';

checkNode();
installPackages();
build();
