import type { Launch } from '../engines/engine.ts';
import type { ContainerRow } from '../store/container-row.ts';

/** A container that has not ended, or that is deleted but not yet cleaned up. */
export interface LiveContainer {
  readonly rowKey: string;
  /** The state that callers see. Replaced as a whole, never modified. */
  row: ContainerRow;
  launch: Launch;
  /** Whether this process has submitted it to the engine, or an earlier one may have. */
  launched: boolean;
  /** Settles when it is known whether a deletion mark in `row` is durable; the mark is removed if not. */
  marking?: Promise<void>;
  /** Its end is known but not yet durable. */
  ending: boolean;
  /** Resolves when its row is durable. Callers do not see the container before. */
  readonly created: Promise<void>;
  isCreated: boolean;
  /** Called when it is no longer live: ended durably, or deleted and cleaned up. */
  readonly onGone: Set<() => void>;
}
