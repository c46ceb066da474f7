import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { fail } from '@sluice/core';
import { parsePlan } from '@sluice/home';
import PQueue from 'p-queue';
import type { PlanOrder } from './plan-order.ts';
import type { PlanReply } from './plan-worker.ts';

/** Plans the orders of an account in a thread of its own. */
export interface OrderPlanner {
  readonly planOrder: PlanOrder;
  close(): Promise<void>;
}

/** Of one order. The author of its texts is not trusted. */
interface PlanLimits {
  readonly memoryMb: number;
  readonly timeMs: number;
}

const LIMITS: PlanLimits = { memoryMb: 512, timeMs: 30_000 };
/** A thread without orders ends after this time. */
const IDLE_MS = 10_000;

/**
 * Parsing and planning a text of a few MB can take seconds, in which a server would serve no request: so they happen in a
 * thread, with limits. Orders of one account wait for each other.
 */
export function openOrderPlanner({ memoryMb, timeMs }: PlanLimits = LIMITS): OrderPlanner {
  const queue = new PQueue({ concurrency: 1 });
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;

  function start(): Worker {
    const file = createRequire(import.meta.url).resolve('@sluice/host/plan-worker');
    const started = new Worker(file, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
    started.on('error', () => {});
    started.unref();
    return started;
  }

  async function stop(): Promise<void> {
    clearTimeout(idle);
    const stopped = worker;
    worker = undefined;
    await stopped?.terminate();
  }

  const plan: PlanOrder = async (order) => {
    clearTimeout(idle);
    worker ??= start();
    worker.postMessage(order);
    let reply: PlanReply;
    try {
      reply = await receive(worker, timeMs);
    } catch (error) {
      await stop();
      return fail(describe(error, { memoryMb, timeMs }));
    }
    idle = setTimeout(() => void stop(), IDLE_MS).unref();
    return reply.ok ? parsePlan(reply.plan) : reply;
  };

  return {
    planOrder: (order) => queue.add(() => plan(order)) as Promise<Awaited<ReturnType<PlanOrder>>>,
    async close() {
      queue.clear();
      await stop();
    },
  };
}

/** The next message of a thread. Rejects if the thread ends before, or after `timeMs`. */
async function receive(worker: Worker, timeMs: number): Promise<PlanReply> {
  const settled = new AbortController();
  const signal = AbortSignal.any([AbortSignal.timeout(timeMs), settled.signal]);
  const ended = once(worker, 'exit', { signal }).then(() => Promise.reject(new Error('its thread has ended')));
  ended.catch(() => {});
  try {
    const [reply] = await Promise.race([once(worker, 'message', { signal }), ended]);
    return reply as PlanReply;
  } finally {
    settled.abort();
  }
}

function describe(error: unknown, { memoryMb, timeMs }: PlanLimits): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (name === 'AbortError') return `planning it takes longer than ${timeMs / 1000} s; make the pipeline smaller`;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY')
    return `planning it needs more than ${memoryMb} MB; make the pipeline smaller`;
  return `it could not be planned: ${message}`;
}
