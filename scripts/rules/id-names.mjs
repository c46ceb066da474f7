/** The fields and parameters of docs/protocol.md, which keep its spelling wherever a value of the protocol is meant. */
const OF_PROTOCOL = ['clusterID', 'accountID', 'volumeID', 'containerID', 'runID', 'nodeID'];

/** All other names of IDs end in `Id`. */
export function check({ files }) {
  return files
    .filter(({ path }) => /^packages\/.*\.tsx?$/.test(path))
    .flatMap(({ path, lines }) =>
      lines.flatMap((text, index) =>
        [...text.matchAll(/\b[a-z]\w*[a-z]ID\b/g)]
          .filter(([name]) => !OF_PROTOCOL.includes(name))
          .map(([name]) => ({ file: path, line: index + 1, message: `${name}: write ${name.slice(0, -2)}Id` })),
      ),
    );
}
