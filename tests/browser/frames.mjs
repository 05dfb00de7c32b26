// The browser's own trace: how many frames it drew and dropped while something happened.
import { strict as assert } from "node:assert";
import { browser } from "./browser.mjs";

const CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline.frame"];

/** Frames of the one page that is open, while `run` runs. Times are in milliseconds. */
export async function framesWhile(run) {
  const session = await browser.newBrowserCDPSession(), events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: CATEGORIES, excludedCategories: ["*"] } });
  await run();
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await complete;
  await session.detach();
  const times = (name) => events.filter((event) => event.name === name).map((event) => event.ts / 1000).sort((a, b) => a - b);
  const drawn = times("DrawFrame");
  assert.ok(drawn.length > 10, `the trace has ${drawn.length} frames`);
  const gaps = drawn.slice(1).map((time, at) => time - drawn[at]).sort((a, b) => a - b);
  const [first, last] = [drawn[0], drawn.at(-1)];
  return {
    rate: 1000 * gaps.length / (last - first),
    drawn: drawn.length,
    dropped: times("DroppedFrame").filter((time) => time > first && time < last).length,
    late: gaps[Math.floor(gaps.length * .95)],
    most: gaps.at(-1),
  };
}
