// Plays an asciicast in asciinema-player's own core, without a browser, and prints what it showed as JSON.
// node play.mjs DIST FILE: DIST is the package's directory dist.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [dist, file] = process.argv.slice(2);
const name = readFileSync(`${dist}/index.js`, "utf8").match(/'\.\/(core-[^']+\.js)'/)[1];
const { C: Core } = await import(pathToFileURL(`${dist}/${name}`).href);

globalThis.requestAnimationFrame ??= (run) => setTimeout(run, 1);
globalThis.cancelAnimationFrame ??= clearTimeout;
const quiet = () => {};
const logger = { log: quiet, debug: quiet, info: quiet, warn: quiet, error: (...all) => console.error(...all) };
const core = new Core({ driver: "recording", data: readFileSync(file, "utf8") }, { logger, speed: 1000, idleTimeLimit: 0.001 });
const seen = { output: "", input: "", markers: [], sizes: [] };
const ended = new Promise((done, fail) => {
  core.addEventListener("output", (e) => { seen.output += [e.data ?? e].flat().join(""); });
  core.addEventListener("input", (e) => { seen.input += [e.data ?? e].flat().join(""); });
  core.addEventListener("marker", (e) => seen.markers.push(e.label));
  core.addEventListener("resize", (e) => seen.sizes.push(`${e.cols}x${e.rows}`));
  core.addEventListener("ended", done);
  core.addEventListener("error", fail);
});
core.terminalReady();
await core.init();
await core.play();
await ended;
console.log(JSON.stringify(seen));
process.exit(0);
