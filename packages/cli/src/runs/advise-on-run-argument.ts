import type { GlobalOptions } from '../context/command-context.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { selectRun } from './select-run.ts';

/** Advice if a word that names nothing in the selected run is the start of the ID of a run; otherwise undefined. */
export async function adviseOnRunArgument(
  home: string,
  { word, options }: { word: string; options: GlobalOptions },
): Promise<string | undefined> {
  const found = await selectRun(home, { prefix: word, options });
  if (!found.ok) return undefined;
  const { runId } = found.value;
  return `${word} is a run: select it with \`--run ${runId}\`, and list its steps with: ${suggestCommand(['show', runId], options)}`;
}
