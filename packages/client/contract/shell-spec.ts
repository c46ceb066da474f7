import type { ContainerSpec } from '@sluice/client';
import type { ContainerPlan } from './service-under-test.ts';

/** A spec that follows `plan` by `sh -c`, for engines that run commands. */
export function shellSpec(instanceType: string, plan: ContainerPlan, image?: string): ContainerSpec {
  const lines = [
    ...(plan.copy === undefined ? [] : [`cat ${quote(plan.copy.from)} > ${quote(plan.copy.to)} || exit 99`]),
    ...(plan.output ?? []).map((piece) => `printf %s ${quote(piece)}`),
    plan.end === 'never' ? 'exec sleep 1000' : `exit ${plan.end}`,
  ];
  return { instanceType, command: ['sh', '-c', lines.join('\n')], ...(image === undefined ? {} : { image }) };
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
