import { findInodeShortage, probeEngines } from '@sluice/service';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { checkHome } from '../home/check-home.ts';
import { findHome } from '../home/home.ts';
import { renderValue } from '../json/render-value.ts';

/** `sluice doctor`: lists the container engines that work on this machine, and what to install for the others. */
export async function doctor(context: CommandContext, options: GlobalOptions): Promise<number> {
  const { terminal } = context;
  const engines = await probeEngines();
  const home = findHome(context, options);
  const checked = checkHome(context, options);
  const problem = checked.ok ? await findFullDisk(home) : checked.error.message;
  if (options.json === true) {
    const known = { node: process.version, home, ...(problem !== undefined && { problem }) };
    terminal.out(renderValue('doctor', { ...known, engines }));
  } else {
    terminal.out(`node     ${process.version}\nhome     ${home}\n`);
    if (problem !== undefined) terminal.out(`         ${problem}\n`);
    for (const { engine, works, found, advice } of engines) {
      terminal.out(`${engine.padEnd(7)}  ${works ? 'works' : 'not available'}: ${found}\n`);
      if (advice !== undefined) terminal.out(`         fix: ${advice}\n`);
    }
    terminal.out(
      '\nSteps without an image run on `process`, steps with an image on `docker`. `slurm` is only for `sluice serve`.\n',
    );
  }
  return engines.some(({ works }) => works) ? EXIT_CODE.ok : EXIT_CODE.unreachable;
}

async function findFullDisk(home: string): Promise<string | undefined> {
  const shortage = await findInodeShortage(home);
  return shortage && `could not create containers in ${home}: ${shortage}; delete files on that disk`;
}
