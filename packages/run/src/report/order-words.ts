import type { RunOrder } from '../schemas/run-order.ts';

/** The words after `sluice` of the command that executes an order, unquoted. */
export function orderWords({ file, params, labels = {}, ...options }: RunOrder): readonly string[] {
  const flag = (name: string, value: unknown) => {
    if (value === undefined) return [];
    return value === true ? [`--${name}`] : [`--${name}`, String(value)];
  };
  return [
    ...['run', file],
    ...Object.entries(params).flatMap(([name, value]) => ['-p', `${name}=${value}`]),
    ...Object.entries(labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]),
    ...flag('root', options.root),
    ...flag('ignore-images', options.ignoreImages),
    ...flag('parallelism', options.parallelism),
    ...flag('here', options.here),
    ...flag('stop-at-approval', options.stopAtApproval),
    ...flag('profile', options.profile),
    ...flag('service', options.service),
    ...scopeFlag(options),
    ...flag('cpu', options.cpu),
  ];
}

/** `--account cluster/account`, or the one of them that is known. */
function scopeFlag({ account, cluster }: Pick<RunOrder, 'account' | 'cluster'>): readonly string[] {
  if (account === undefined) return cluster === undefined ? [] : ['--cluster', cluster];
  return ['--account', cluster === undefined ? account : `${cluster}/${account}`];
}
