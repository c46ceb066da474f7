import { useEffect, useRef } from 'preact/hooks';

const KEYS = [
  ['?', 'everywhere', 'this help'],
  ['Tab', 'everywhere', 'next control'],
  ['Escape', 'everywhere', 'close the dialog or panel, clear the selection'],
  ['arrow keys', 'graph', 'select the next step along an edge, or above and below'],
  ['Enter', 'graph, tree', 'open the step or cell'],
  ['Space or E', 'graph', 'show or hide the cells, unfold a group'],
  ['F', 'graph', 'fold the group of the step, or unfold it'],
  ['+ and −', 'graph', 'zoom in and out'],
  ['0', 'graph', 'show the whole graph'],
  ['arrow keys, Home, End', 'tree of steps', 'select; right and left show and hide cells and groups'],
  ['arrow keys', 'map of cells', 'move; Enter opens the cell'],
  ['left and right', 'edge of a column', 'change the width; Home resets it'],
] as const;

/** The keys of all screens: a button, and the key `?`. */
export function KeyboardHelp() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = () => {
    if (document.querySelector('dialog[open]') === null) dialog.current?.showModal();
  };
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key === '?' && !(event.target as Element).matches('input, select, textarea')) open();
    };
    const close = () => dialog.current?.close();
    document.addEventListener('keydown', listen);
    // It would cover another screen.
    addEventListener('hashchange', close);
    return () => {
      document.removeEventListener('keydown', listen);
      removeEventListener('hashchange', close);
    };
  }, []);
  return (
    <>
      <button type="button" class="help" aria-label="Keyboard help" title="Keyboard help (?)" onClick={open}>
        ?
      </button>
      <dialog ref={dialog} class="dialog" aria-labelledby="help-title">
        <h2 id="help-title">Keyboard</h2>
        <table>
          <tbody>
            {KEYS.map(([key, where, effect]) => (
              <tr key={key + where}>
                <th scope="row">{key}</th>
                <td class="soft">{where}</td>
                <td>{effect}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
      </dialog>
    </>
  );
}
