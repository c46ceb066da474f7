import { defineConfig } from 'vitest/config';

/** Tests read the packages' sources, so that no build is needed before them. */
const resolve = { conditions: ['sluice-source', 'node', 'import', 'default'] };
const project = (name: string, include: string[], timeout = 20_000) => ({
  resolve,
  ssr: { resolve: { conditions: resolve.conditions } },
  test: { name, include, testTimeout: timeout, hookTimeout: timeout },
});

export default defineConfig({
  test: {
    projects: [
      project('core', ['packages/core/test/**/*.test.ts']),
      project('client', ['packages/client/test/**/*.test.ts']),
      project('runner', ['packages/runner/test/**/*.test.ts']),
      project('service', ['packages/service/test/**/*.test.ts'], 60_000),
      project('cli', ['packages/cli/test/**/*.test.ts'], 60_000),
      project('e2e', ['test/**/*.test.ts'], 180_000),
    ],
  },
});
