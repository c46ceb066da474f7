import type { Launch } from '../engine.ts';

/** What Slurm sets in a job for the GPUs that are its own; which of them depends on the site. */
const VARIABLES = ['CUDA_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES', 'ZE_AFFINITY_MASK', 'GPU_DEVICE_ORDINAL'];

/**
 * Shell words, each with a blank after it, for those variables that the job has: `word` says how the runtime takes one.
 * They belong after the container's own environment, for Slurm knows better than a pipeline which GPUs are free.
 */
export function gpuWords({ limits }: Launch, word: (name: string) => string): string {
  if (limits.gpus === 0) return '';
  return VARIABLES.map((name) => `\${${name}+"${word(name)}"} `).join('');
}
