import { own } from '@sluice/client';

const PREFIX = 'BAT_PORT_';

/** The variables that tell a container its ports: as the protocol names them, and again with `-` as `_` for shells. */
export function portVariables(ports: Readonly<Record<string, number>>): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, port] of Object.entries(ports)) {
    variables[PREFIX + name] = String(port);
    variables[PREFIX + name.replaceAll('-', '_')] = String(port);
  }
  return variables;
}

const REFERENCE = /\$(?:BAT_PORT_([A-Za-z0-9_-]+)|\{BAT_PORT_([A-Za-z0-9_-]+)\}|\(BAT_PORT_([A-Za-z0-9_-]+)\))/g;

/** Replaces `$BAT_PORT_x`, `${BAT_PORT_x}` and `$(BAT_PORT_x)` in an argument; what names no port stays as it is. */
export function expandPorts(argument: string, ports: Readonly<Record<string, number>>): string {
  if (!argument.includes(PREFIX)) return argument;
  const variables = portVariables(ports);
  return argument.replace(REFERENCE, (whole, bare?: string, braced?: string, bracketed?: string) => {
    const exact = own(variables, PREFIX + (braced ?? bracketed ?? bare ?? ''));
    if (exact !== undefined) return exact;
    return bare === undefined ? whole : expandBare(whole, bare, variables);
  });
}

/** A bare name ends where the longest known port name does: `$BAT_PORT_web-x` may mean the port `web`. */
function expandBare(whole: string, name: string, variables: Readonly<Record<string, string>>): string {
  for (let length = name.length - 1; length > 0; length--) {
    const port = own(variables, PREFIX + name.slice(0, length));
    if (port !== undefined && !/[A-Za-z0-9_]/.test(name.charAt(length))) return port + name.slice(length);
  }
  return whole;
}
