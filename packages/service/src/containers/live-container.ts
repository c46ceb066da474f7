import type { Launch } from '../engines/engine.ts';
import type { ContainerRow } from '../store/container-row.ts';

/** A container that has not ended, or is deleted and not yet cleaned up. */
export interface LiveContainer {
  readonly rowKey: string;
  /** What may be reported of it. Replaced as a whole, never changed. */
  row: ContainerRow;
  launch: Launch;
  /** Whether the engine was asked to launch it, by this process or an earlier one. */
  launched: boolean;
  /** Its end is known and on the way to the disk. */
  ending: boolean;
  /** Resolves once the row that says it exists is durable; before, it is not reported. */
  readonly created: Promise<void>;
  isCreated: boolean;
  /** Called when nothing of it is live any more. */
  readonly onGone: Set<() => void>;
}
