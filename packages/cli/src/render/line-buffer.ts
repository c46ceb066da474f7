/** Joins the lines of one moment into one write: ten thousand single writes would cost as many system calls. */
export interface LineBuffer {
  add(text: string): void;
  /** Writes what is buffered, now. */
  write(): void;
}

/** Writes to `out` in a microtask after the first `add`. Each text must end with its newline. */
export function createLineBuffer(out: (text: string) => void): LineBuffer {
  let unwritten: string[] = [];
  const write = () => {
    const lines = unwritten;
    unwritten = [];
    if (lines.length > 0) out(lines.join(''));
  };
  return {
    write,
    add(text) {
      if (text === '') return;
      if (unwritten.length === 0) queueMicrotask(write);
      unwritten.push(text);
    },
  };
}
