import { findInodeShortage, probeEngines } from '@sluice/service';
import type { CommandContext } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { checkHome } from '../home/check-home.ts';
import { findHome } from '../home/home.ts';
import type { JsonValue } from '../json/json-values.ts';
import { renderValue } from '../json/render-value.ts';
import type { BundleOptions } from './write-bundle.ts';

interface DoctorCall {
  readonly context: CommandContext;
  /** Those of the bundle are absent if there is none. */
  readonly options: Partial<BundleOptions>;
  /** Of this program. */
  readonly version: string;
}

/** `sluice doctor`: lists the container engines that work on this machine, and what to install for the others. */
export async function doctor({ context, options, version }: DoctorCall): Promise<number> {
  const { terminal } = context;
  const { bundle } = options;
  if (options.run !== undefined && bundle === undefined) {
    const message = 'could not select a run: --run needs --bundle; add --bundle FILE';
    return reject({ exitCode: EXIT_CODE.rejected, code: 'USAGE', message }, { context, options });
  }
  const engines = await probeEngines();
  const home = findHome(context, options);
  const checked = checkHome(context, options);
  const problem = checked.ok ? await findFullDisk(home) : checked.error.message;
  const found = { node: process.version, home, ...(problem !== undefined && { problem }), engines };
  if (bundle !== undefined) {
    const { writeBundle } = await import('./write-bundle.ts');
    return writeBundle({ found, version }, context, { ...options, bundle });
  }
  terminal.out(options.json === true ? renderValue('doctor', found) : renderFound(found));
  return engines.some(({ works }) => works) ? EXIT_CODE.ok : EXIT_CODE.unreachable;
}

function renderFound({ node, home, problem, engines }: JsonValue<'doctor'>): string {
  const lines = engines.flatMap(({ engine, works, found, limits = [], advice }) => [
    `${engine.padEnd(7)}  ${works ? 'works' : 'not available'}: ${found}`,
    ...limits.map((limit) => `         ${limit}`),
    ...(advice === undefined ? [] : [`         fix: ${advice}`]),
  ]);
  return [
    `node     ${node}`,
    `home     ${home}`,
    ...(problem === undefined ? [] : [`         ${problem}`]),
    ...lines,
    '\nSteps without an image run on `process`, steps with an image on `docker`. `slurm` runs steps as jobs: --engine slurm, or `sluice serve`.\n',
  ].join('\n');
}

async function findFullDisk(home: string): Promise<string | undefined> {
  const shortage = await findInodeShortage(home);
  return shortage && `could not create containers in ${home}: ${shortage}; delete files on that disk`;
}
