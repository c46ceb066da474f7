/** Resources in words, for example `4 cores, 8 GB of memory, 1 GPU (A100)`; empty without any. */
export function resourceWords({ cpu, memoryGB, gpuModel, ...given }: ResourceAmounts): string {
  const gpu = given.gpu ?? (gpuModel === undefined ? undefined : 1);
  const model = gpuModel === undefined ? '' : ` (${gpuModel})`;
  return [
    ...(cpu === undefined ? [] : [cpu === 1 ? '1 core' : `${cpu} cores`]),
    ...(memoryGB === undefined ? [] : [`${Number(memoryGB.toPrecision(3))} GB of memory`]),
    ...(gpu === undefined ? [] : [`${gpu === 1 ? '1 GPU' : `${gpu} GPUs`}${model}`]),
  ].join(', ');
}

interface ResourceAmounts {
  readonly cpu?: number | undefined;
  readonly memoryGB?: number | undefined;
  readonly gpu?: number | undefined;
  readonly gpuModel?: string | undefined;
}

/** Hours of cores or GPUs to three digits, for example `0.00125 h`. */
export function hourWords(hours: number): string {
  return `${Number(hours.toPrecision(3)).toLocaleString('en', { maximumFractionDigits: 6 })} h`;
}
