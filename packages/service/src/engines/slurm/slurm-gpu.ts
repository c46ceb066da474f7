import type { Launch } from '../engine.ts';

/** Variables in which Slurm names the GPUs of a job; which of them it sets depends on the site. */
export const GPU_VARIABLES = ['CUDA_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES', 'ZE_AFFINITY_MASK', 'GPU_DEVICE_ORDINAL'];

/**
 * Shell words, each followed by a blank, for the variables that are set in the job; `word` renders one for the runtime. They
 * must follow the container's own environment, because Slurm's choice of GPUs takes precedence.
 */
export function gpuWords({ limits }: Launch, word: (name: string) => string): string {
  if (limits.gpus === 0) return '';
  return GPU_VARIABLES.map((name) => `\${${name}+"${word(name)}"} `).join('');
}
