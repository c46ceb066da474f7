import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { replaceFile, waitForLock } from '@sluice/host-system';
import { type ConfigEdit, type EditResult, editConfig } from './edit-config.ts';

/**
 * Edits a configuration file atomically and durably. `check` returns what is wrong with the new text, which is then not
 * written. Concurrent edits wait for each other. Throws if another program changed the file during the edit.
 */
export async function editConfigFile(
  path: string,
  { edit, check }: { edit: ConfigEdit; check: (text: string) => string | undefined },
): Promise<EditResult> {
  // Replace the target, so that a link stays a link.
  const file = await realpath(path);
  const lock = await waitForLock(join(dirname(file), `.${basename(file)}.lock`), `change ${file}`);
  try {
    const before = await readFile(file, 'utf8');
    const edited = editConfig(before, edit);
    if (!edited.ok) return edited;
    const fault = check(edited.text);
    if (fault !== undefined) return { ok: false, message: fault };
    await replaceConfig(file, { before, text: edited.text });
    return edited;
  } finally {
    lock.release();
  }
}

async function replaceConfig(file: string, { before, text }: { before: string; text: string }): Promise<void> {
  const { mode, uid, gid } = await stat(file);
  await replaceFile(file, text, {
    mode: mode & 0o777,
    ...(process.getuid?.() === 0 && { owner: { uid, gid } }),
    async beforeReplacing() {
      if ((await readFile(file, 'utf8')) === before) return;
      throw new Error(`could not change ${file} because another program wrote it at the same time; try again`);
    },
  });
}
