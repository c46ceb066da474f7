import { Component, type ComponentChildren } from 'preact';
import { messageFor } from '../api/fetch-reply.ts';
import { Note } from './note.tsx';

interface BoundaryProps {
  /** What is inside, for the message: `The graph`. */
  readonly what: string;
  /** Another value is tried again without being asked. */
  readonly of?: string;
  readonly children: ComponentChildren;
}

/** Shows why a part of the page cannot be drawn, in its place; the rest of the page stays. */
export class ErrorBoundary extends Component<BoundaryProps, { readonly error?: unknown }> {
  override state: { readonly error?: unknown } = {};

  static override getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override componentDidUpdate(before: BoundaryProps): void {
    if (before.of !== this.props.of && this.state.error !== undefined) this.setState({ error: undefined });
  }

  override render({ what, children }: BoundaryProps) {
    const { error } = this.state;
    if (error === undefined) return children;
    const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return (
      <Note tone="bad">
        <p>
          {what} could not be shown, because of an error in this page: {messageFor(error)}
        </p>
        <button type="button" onClick={() => this.setState({ error: undefined })}>
          Try again
        </button>{' '}
        <button type="button" onClick={() => void navigator.clipboard.writeText(`${location.href}\n${details}`)}>
          Copy the error
        </button>
      </Note>
    );
  }
}
