import { probeEngines } from '@sluice/service';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { checkHome } from '../home/check-home.ts';
import { findHome } from '../home/home.ts';

/** `sluice doctor`: what this machine can run containers with, and what to install. */
export async function doctor(context: CommandContext, options: GlobalOptions): Promise<number> {
  const { terminal } = context;
  const engines = await probeEngines();
  const home = findHome(context, options);
  const checked = checkHome(context, options);
  const refused = checked.ok ? undefined : checked.error.message;
  if (options.json === true) {
    const known = { node: process.version, home, ...(refused !== undefined && { refused }) };
    terminal.out(`${JSON.stringify({ type: 'doctor', ...known, engines })}\n`);
  } else {
    terminal.out(`node     ${process.version}\nhome     ${home}\n`);
    if (refused !== undefined) terminal.out(`         ${refused}\n`);
    for (const { engine, works, found, advice } of engines) {
      terminal.out(`${engine.padEnd(7)}  ${works ? 'works' : 'is not there'}: ${found}\n`);
      if (advice !== undefined) terminal.out(`         to do: ${advice}\n`);
    }
    terminal.out(
      '\nA step without an image runs on process, a step with one on docker; slurm is for `sluice serve`.\n',
    );
  }
  return engines.some(({ works }) => works) ? EXIT_CODE.ok : EXIT_CODE.unreachable;
}
