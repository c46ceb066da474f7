import { isFannedOutStep, type Step, type StepSource } from '../model/pipeline.ts';

/** What is wrong with the path of an edge, as the end of a sentence; undefined if the service can mount it. */
export function findPathFault(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.startsWith('/')) return 'is absolute';
  if (path.includes('${{')) return 'contains an expression, but must be known when the file is read';
  const part = path.split('/').find((name) => name === '' || name === '.' || name === '..');
  if (part === undefined) return undefined;
  return part === '' ? 'contains an empty name' : `contains \`${part}\``;
}

/** What is wrong with a path in an output. An output of a step with cells is a directory of cells, whose names may change. */
export function findOutputPathFault(
  { step, output, path }: Required<StepSource>,
  source: Step,
  { isDeclared = false, isSingle = false }: { readonly isDeclared?: boolean; readonly isSingle?: boolean } = {},
): { readonly message: string; readonly hint?: string } | undefined {
  const edge = `${step}.${output}`;
  if (isDeclared && hasCells(source)) {
    const message = `an output of the pipeline cannot be a path in \`${edge}\`, because \`${step}\` has cells`;
    return { message, hint: `declare \`${edge}\`: it contains one directory for each cell` };
  }
  if (hasCells(source) && !isSingle) {
    return {
      message: `an input cannot mount a path in \`${edge}\`, because \`${step}\` has cells`,
      hint: `mount \`${edge}\`: it contains one directory for each cell`,
    };
  }
  const fault = findPathFault(path);
  if (fault === undefined) return undefined;
  const message = `the path in output \`${edge}\` ${fault}`;
  return path === '' ? { message, hint: `to mount the whole output, write \`${edge}\`` } : { message };
}

/** Whether a step has one output directory for each cell. */
export function hasCells(step: Step): boolean {
  return isFannedOutStep(step);
}
