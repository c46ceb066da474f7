import type { LaunchRequest } from './launcher.ts';

/** Encodes a frame for the native launcher: the length as 32-bit little-endian, then fields that each end with NUL. */
export function renderFrame(fields: readonly string[]): Buffer {
  const text = `${fields.join('\0')}\0`;
  const frame = Buffer.allocUnsafe(4 + Buffer.byteLength(text));
  frame.writeUInt32LE(frame.length - 4, 0);
  frame.write(text, 4);
  return frame;
}

/** The fields of a launch, in the order that `launcher.c` documents. */
export function launchFields(request: LaunchRequest): string[] {
  const fields = ['launch', request.id, request.key, request.directory];
  fields.push(request.logPath, String(request.logLimitBytes), request.workingDirectory);
  fields.push(String(request.milliCores), String(request.memoryBytes), String(request.mounts.length));
  for (const mount of request.mounts) {
    fields.push(mount.root, mount.subPath, mount.kind, mount.target);
    fields.push(mount.readOnly === true ? 'ro' : 'rw', mount.isLate ? '1' : '0');
  }
  fields.push(String(request.argv.length), ...request.argv, String(request.env.length), ...request.env);
  return fields;
}
