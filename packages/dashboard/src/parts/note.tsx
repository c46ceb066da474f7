import type { ComponentChildren } from 'preact';

/** A message that is read aloud when it appears. */
export function Note({
  tone = 'calm',
  children,
}: {
  tone?: 'calm' | 'bad' | 'warn' | 'good';
  children: ComponentChildren;
}) {
  return (
    <div class={`note tone-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}
