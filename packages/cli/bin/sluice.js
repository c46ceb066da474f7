#!/usr/bin/env node
// CommonJS, as the bundle is: loading takes half of what it takes with ES modules (docs/decisions/0010-bundle.md).
const { loadCommand } = require('./load-command.js');

// Threads for calls to files: storages that do not answer can occupy four each (docs/decisions/0070-storages-that-stop.md).
// It has an effect only before the first such call.
process.env.UV_THREADPOOL_SIZE ??= '16';

loadCommand();
