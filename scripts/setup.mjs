// `npm run setup`: from a bare clone to a `sluice` command that can be called; runs nothing.
import { buildCommand, buildRest, checkNode, installPackages } from './workspace.mjs';

checkNode();
installPackages();
buildCommand();
buildRest();
