/** What an instance type has, as the service reported it. Plain JSON data. */
export interface InstanceSize {
  readonly clusterID: string;
  /** Of the instance type. */
  readonly id: string;
  /** Number of cores. */
  readonly cpu: number;
  readonly memoryGB: number;
  /** Number of GPUs; absent without any. */
  readonly gpu?: number;
  readonly gpuModel?: string;
}
