import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DiskAmount, readFreeSpace } from '@sluice/host-system';

const LOOK_MS = 1_000;
/** With less of either free, the journal and the store cannot be relied on to record an end. */
const LEAST: DiskAmount = { bytes: 256 * 1024, inodes: 16 };
/**
 * Enough to record ends and a cancellation, and to collect garbage. Together with what is left, it is less than the
 * service requires before it accepts a new container.
 */
const RESERVE: DiskAmount = { bytes: 768 * 1024, inodes: 64 };
/** With more of either free, the reserve of it is created again. */
const AMPLE: DiskAmount = { bytes: 8 * 1024 * 1024, inodes: 256 };

/** What a home holds: the bytes of a file, and the inodes of a directory of empty files. */
interface Reserve {
  readonly path: string;
  isComplete(): boolean;
  make(): void;
}

/**
 * Keeps a reserve of bytes and inodes on the disk of a home: removes it while the disk is full, and creates it again when
 * there is space. Without it, a step that fills the disk could neither fail nor be canceled. Resolves to a function that
 * stops this, once the reserve is as the disk requires.
 */
export async function keepReserve(home: string): Promise<() => void> {
  let stopped = false;
  let looking = false;
  const look = async () => {
    // A network storage may take longer to answer than the timer waits.
    if (looking) return;
    looking = true;
    // The home may be read-only or removed: its next use reports the cause.
    const free = await readFreeSpace(home).catch(() => undefined);
    looking = false;
    if (free !== undefined && !stopped) adjustReserves(home, free);
  };
  await look();
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}

function adjustReserves(home: string, free: DiskAmount): void {
  const reserves = { bytes: byteReserve(join(home, 'reserve')), inodes: inodeReserve(join(home, 'reserve-inodes')) };
  for (const kind of ['bytes', 'inodes'] as const) {
    const reserve = reserves[kind];
    // Some file systems do not report what is free.
    if (free[kind] === Number.POSITIVE_INFINITY) continue;
    try {
      if (free[kind] < LEAST[kind]) rmSync(reserve.path, { recursive: true, force: true });
      else if (free[kind] >= AMPLE[kind] && !reserve.isComplete()) makeReserve(reserve);
    } catch {
      // As in `keepReserve`.
    }
  }
}

function makeReserve({ path, make }: Reserve): void {
  try {
    make();
  } catch {
    // An incomplete reserve would count as a complete one. Another process may have created it at the same time.
    rmSync(path, { recursive: true, force: true });
  }
}

function byteReserve(path: string): Reserve {
  return {
    path,
    isComplete: () => existsSync(path),
    // No file system can store these in less space.
    make: () => writeFileSync(path, randomBytes(RESERVE.bytes), { mode: 0o600, flag: 'wx' }),
  };
}

function inodeReserve(path: string): Reserve {
  return {
    path,
    isComplete: () => existsSync(path) && readdirSync(path).length >= RESERVE.inodes,
    make() {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      for (let number = 1; number <= RESERVE.inodes; number++) {
        closeSync(openSync(join(path, `${number}`), 'a', 0o600));
      }
    },
  };
}
