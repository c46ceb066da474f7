import { parentPort } from 'node:worker_threads';
import { serializePlan } from '@sluice/home';
import { type PlannedOrder, planOrder } from './plan-order.ts';

/** The reply to an order: the bytes of its plan file, or what is wrong with it. */
export type PlanReply =
  | { readonly ok: true; readonly plan: Uint8Array }
  | { readonly ok: false; readonly error: string };

/** A thread that plans one order after the other. */
parentPort!.on('message', (order: PlannedOrder) => {
  const planned = planOrder(order);
  const reply: PlanReply = planned.ok ? { ok: true, plan: serializePlan(planned.value) } : planned;
  parentPort!.postMessage(reply);
});
