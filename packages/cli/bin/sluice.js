#!/usr/bin/env node
import module from 'node:module';

// From Node.js 22.1 on: what was compiled once is not compiled again.
module.enableCompileCache?.();
await import('../dist/bundle/main.js');
