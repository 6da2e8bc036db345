// Loaded into a Node server only for its profile: the first SIGUSR2 begins a CPU profile, the second
// ends it.

const { renameSync, writeFileSync } = require("node:fs");
const { Session } = require("node:inspector");
const { tmpdir } = require("node:os");

const session = new Session();
let begun = false;

process.on("SIGUSR2", () => {
  if (!begun) {
    begun = true;
    session.connect();
    session.post("Profiler.enable");
    session.post("Profiler.setSamplingInterval", { interval: 5_000 });
    session.post("Profiler.start");
    return;
  }
  session.post("Profiler.stop", (error, result) => {
    const place = `${tmpdir()}/profile-${process.pid}`;
    writeFileSync(`${place}.part`, error ? "" : JSON.stringify(result.profile));
    renameSync(`${place}.part`, place);
  });
});
