import type { RunOrder } from '../schemas/run-order.ts';

/** The longest argument of a command on Linux. */
const MAX_ARGUMENT = 131_072;

/** The words `-p NAME=VALUE` of a command. A value that is too long for them has the place of a file. */
export function paramWords(params: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(params).flatMap(([name, value]) => {
    const text = value.startsWith('@') ? `@${value}` : value;
    return ['-p', `${name}=${name.length + text.length < MAX_ARGUMENT ? text : `@${name}.json`}`];
  });
}

/** The words after `sluice` of the command that executes an order, unquoted. */
export function orderWords({ file, params, labels = {}, ...options }: RunOrder): readonly string[] {
  const flag = (name: string, value: unknown) => {
    if (value === undefined) return [];
    return value === true ? [`--${name}`] : [`--${name}`, String(value)];
  };
  return [
    ...['run', file],
    ...paramWords(params),
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
