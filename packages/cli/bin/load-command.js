// Loads the bundled command with what was compiled of it before: compiling takes longer than most commands do.
const { readFileSync, statSync } = require('node:fs');
const module_ = require('node:module');
const { join } = require('node:path');
const vm = require('node:vm');

const BUNDLE = join(__dirname, '../dist/bundle');
const PARAMETERS = 'exports, require, module, __filename, __dirname';

/**
 * Starts the command that `process.argv` names. `onLoaded` hears of each file of the bundle with its compiled script.
 * Node.js compiles anew what is not there.
 */
exports.loadCommand = (onLoaded = () => {}) => {
  // From 22.1 on Node.js keeps what it has compiled by itself.
  if (module_.enableCompileCache !== undefined) {
    module_.enableCompileCache();
    require(join(BUNDLE, 'main.cjs'));
    return;
  }
  const requireOutside = module_.createRequire(join(BUNDLE, 'main.cjs'));
  const loaded = new Map();
  const load = (id) => {
    if (!id.startsWith('./')) return requireOutside(id);
    const file = join(BUNDLE, id);
    const known = loaded.get(file);
    if (known !== undefined) return known.exports;
    const script = new vm.Script(`(function (${PARAMETERS}) {${readFileSync(file, 'utf8')}\n})`, {
      filename: file,
      cachedData: readCompiled(file),
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    onLoaded(file, script);
    const module = { exports: {} };
    loaded.set(file, module);
    script.runInThisContext()(module.exports, load, module, file, BUNDLE);
    return module.exports;
  };
  load.resolve = requireOutside.resolve;
  load('./main.cjs');
};

// V8 takes what another build of Node.js has compiled for its own where both have the same V8, and crashes over it: from
// 20.19 to 20.20 a segmentation fault. So each build of Node.js has files of its own.
const builtWith = `${process.version}-${process.arch}-${statSync(process.execPath).size}`;

/** Name of the file in which the compiled form of a file is kept for the Node.js that runs. */
const compiledName = (file) => `${file}.${builtWith}.compiled`;
exports.compiledName = compiledName;

function readCompiled(file) {
  try {
    return readFileSync(compiledName(file));
  } catch {
    return undefined;
  }
}
