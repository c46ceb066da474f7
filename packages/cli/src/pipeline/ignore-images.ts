import { type Diagnostic, ignoreImages, type Plan, type Step } from '@sluice/core';
import { listSome } from '../text/shorten.ts';

/** The plan for this machine's programs. The diagnostics are a warning, or an error if a step has nothing to run then. */
export function ignoreImagesOf(plan: Plan): { readonly plan: Plan; readonly diagnostics: readonly Diagnostic[] } {
  const { plan: ignored, named, bare } = ignoreImages(plan);
  if (named.length === 0) return { plan, diagnostics: [] };
  if (bare.length > 0) {
    const message = `could not ignore the image of ${listNames(bare)}: there is no command to run; add \`command\` or \`script\``;
    return { plan, diagnostics: [{ code: 'nothing-to-run', severity: 'error', message }] };
  }
  const message = `images are ignored: ${listNames(named)} run${named.length === 1 ? 's' : ''} with this machine's programs`;
  return { plan: ignored, diagnostics: [{ code: 'images-ignored', severity: 'warning', message }] };
}

/** `step fit`, or `steps fit, train and 3 more`. */
export function listNames(steps: readonly Step[]): string {
  const names = steps.map(({ name }) => name);
  return `step${names.length === 1 ? '' : 's'} ${listSome(names, 60)}`;
}
