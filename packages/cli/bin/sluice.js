#!/usr/bin/env node
// CommonJS, as the bundle is: loading takes half of what it takes with ES modules (docs/decisions/0010-bundle.md).
const { loadCommand } = require('./load-command.js');

loadCommand();
