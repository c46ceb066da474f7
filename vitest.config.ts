import { defineConfig, type TestProjectConfiguration } from 'vitest/config';

/** Tests read the packages' sources, so that no build is needed before them. */
const resolve = { conditions: ['sluice-source', 'node', 'import', 'default'] };

interface Project {
  readonly include: string[];
  readonly exclude?: string[];
  /** Groups run one after the other, projects of a group side by side. Default 0. */
  readonly group?: number;
  /** Files one after the other: they use what there is only one of. */
  readonly isSerial?: boolean;
  /** Loaded before each file. */
  readonly setup?: string;
}

/** Ends what hangs; no measure of speed: a busy machine may take ten times as long as a quiet one. */
const HUNG_AFTER_MS = 180_000;

function project(name: string, { include, exclude = [], group = 0, isSerial = false, setup }: Project) {
  return {
    resolve,
    ssr: { resolve: { conditions: resolve.conditions } },
    test: {
      name,
      include,
      exclude: ['**/node_modules/**', ...exclude],
      testTimeout: HUNG_AFTER_MS,
      hookTimeout: HUNG_AFTER_MS,
      fileParallelism: !isSerial,
      sequence: { groupOrder: group },
      ...(setup === undefined ? {} : { setupFiles: [setup] }),
    },
  } satisfies TestProjectConfiguration;
}

/** Tests that drain, restart and kill the one Docker daemon and the one Slurm cluster of this machine. */
const engines = ['packages/service/test/engines/{docker,slurm}/**/*.test.ts', 'test/engines/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      project('core', { include: ['packages/core/test/**/*.test.ts'] }),
      project('client', { include: ['packages/client/test/**/*.test.ts'] }),
      project('runner', { include: ['packages/runner/test/**/*.test.ts'] }),
      project('service', { include: ['packages/service/test/**/*.test.ts'], exclude: engines }),
      project('cli', { include: ['packages/cli/test/**/*.test.ts'] }),
      project('e2e', { include: ['test/**/*.test.ts'], exclude: engines, group: 1 }),
      project('engines', {
        include: engines,
        group: 2,
        isSerial: true,
        setup: 'packages/service/test/engines/docker/daemon-hangs.ts',
      }),
    ],
  },
});
