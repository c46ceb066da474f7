/** Lines that come at the same moment are written at once: ten thousand of them would cost as many system calls. */
export interface LineBuffer {
  add(text: string): void;
  /** Writes what is left, now. */
  write(): void;
}

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
