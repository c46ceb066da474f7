import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { createCacheKey } from './scripts/test-cache-key.ts';
import { createSummaryReporter } from './scripts/test-summary.ts';

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
  /** Each file loads its modules by itself: some of them replace modules or keep what this process has of the machine. */
  readonly isIsolated?: boolean;
}

/** Ends what hangs; no measure of speed: a busy machine may take fifty times as long as a quiet one. */
const HUNG_AFTER_MS = 600_000;

function project(name: string, options: Project) {
  const { include, exclude = [], group = 0, isSerial = false, setup, isIsolated = false } = options;
  return {
    resolve,
    ssr: { resolve: { conditions: resolve.conditions } },
    test: {
      name,
      include,
      exclude: ['**/node_modules/**', ...exclude],
      testTimeout: HUNG_AFTER_MS,
      hookTimeout: HUNG_AFTER_MS,
      expect: { poll: { timeout: HUNG_AFTER_MS / 3 } },
      fileParallelism: !isSerial,
      // Loading the modules once for each worker saves a third of the processor time of these projects.
      isolate: isIsolated,
      sequence: { groupOrder: group },
      ...(setup === undefined ? {} : { setupFiles: [setup] }),
    },
  } satisfies TestProjectConfiguration;
}

/** Tests that drain, restart and kill the one Docker daemon or the one Slurm cluster of this machine, or use both. */
const engines = {
  'engines-docker': 'packages/service/test/engines/docker/**/*.test.ts',
  'engines-slurm': 'packages/service/test/engines/slurm/**/*.test.ts',
  'engines-examples': 'test/engines/**/*.test.ts',
};

/** Counts executed blocks, which is only exact for code that no other file has executed before. */
const COUNTED = 'packages/core/test/parse/linear-checks.test.ts';

/**
 * Files that replace modules, or fill and freeze disks of which a process remembers what it has seen. The others of their
 * projects share what is loaded: loading it again takes 5 s of processor time for each end-to-end file.
 */
const ISOLATED_SERVICE = [
  'packages/service/test/storage/*.test.ts',
  'packages/service/test/store/{disk-full,full-store}.test.ts',
  'packages/service/test/containers/rejected-delete.test.ts',
  'packages/service/test/volumes/{volume-usage,files/remove-tree,webdav/property-store}.test.ts',
];
const ISOLATED_E2E = [
  'test/e2e/{hosted-kills,full-home,full-disk,failing-disk,few-inodes,home-reserve,old-runs}.test.ts',
];

/** Begun last, one of these would go on alone, with the other workers idle. The longest first. */
const LONG = [
  'runner/test/simulation/simulation.test.ts',
  'service/test/engines/process/process-engine.test.ts',
  'test/chaos/chaos.test.ts',
  'test/e2e/crash.test.ts',
  'runner/test/simulation/planted-bugs.test.ts',
  'runner/test/model/model.test.ts',
  'test/e2e/examples.test.ts',
  'test/operator/serve-guide.test.ts',
  'runner/test/schedule/open-schedule.test.ts',
  'runner/test/run/pipeline-keys.test.ts',
];

/** Begins with the files that take long; a fresh checkout has no times of earlier runs to go by. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONG.findIndex((name) => moduleId.endsWith(`/${name}`));
      return index === -1 ? LONG.length : index;
    };
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    return (await super.sort(files)).sort((a, b) => groupOf(a) - groupOf(b) || rank(a) - rank(b));
  }
}

export default defineConfig({
  plugins: [createCacheKey()],
  test: {
    // Files are transformed once for all projects and later runs (decision 0047).
    experimental: { fsModuleCache: true },
    // Many tests wait for processes and leave their processor idle. The default is one less than there are processors.
    maxWorkers: 2 * availableParallelism(),
    reporters: ['default', createSummaryReporter()],
    sequence: { sequencer: LongFilesFirst },
    projects: [
      project('core', { include: ['packages/core/test/**/*.test.ts'], exclude: [COUNTED] }),
      project('core-counted', { include: [COUNTED], isIsolated: true }),
      project('host-system', { include: ['packages/host-system/test/**/*.test.ts'] }),
      project('client', { include: ['packages/client/test/**/*.test.ts'] }),
      project('run', { include: ['packages/run/test/**/*.test.ts'] }),
      project('home', { include: ['packages/home/test/**/*.test.ts'] }),
      project('runner', { include: ['packages/runner/test/**/*.test.ts'] }),
      project('service', {
        include: ['packages/service/test/**/*.test.ts'],
        exclude: [...Object.values(engines), ...ISOLATED_SERVICE],
      }),
      project('service-isolated', { include: ISOLATED_SERVICE, isIsolated: true }),
      project('host', { include: ['packages/host/test/**/*.test.ts'] }),
      project('dashboard', { include: ['packages/dashboard/test/**/*.test.ts'] }),
      project('cli', { include: ['packages/cli/test/**/*.test.ts'] }),
      project('e2e', { include: ['test/**/*.test.ts'], exclude: [...Object.values(engines), ...ISOLATED_E2E] }),
      project('e2e-isolated', { include: ISOLATED_E2E, isIsolated: true }),
      // Without engines these skip their tests, and only the order of the groups matters (scripts/run-tests.mjs).
      ...Object.entries(engines).map(([name, pattern], index) =>
        project(name, {
          include: [pattern],
          group: index + 1,
          isSerial: true,
          isIsolated: true,
          setup: 'packages/service/test/engines/docker/daemon-hangs.ts',
        }),
      ),
    ],
  },
});
