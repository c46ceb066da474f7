import { x } from './scheduler/scheduler.ts';
export const y = x;
