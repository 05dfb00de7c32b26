// Compares what the conformance tool found with expectations.json, check by check.
// Why something is accepted that does not pass is in reasons.json.
// Usage: node compare.mjs NAME RESULTS [--renew]. RESULTS is the folder that the tool wrote.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [name, results, renew] = process.argv.slice(2);
const file = join(dirname(fileURLToPath(import.meta.url)), 'expectations.json');
const expectations = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};

// `server-tools-list-2026-01-01T00-00-00-000Z` is the folder of the scenario `tools-list`.
const scenarioOf = (folder) => folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');

// Scenarios that pass are one word; of others each check that does not is listed.
const found = {};
for (const folder of readdirSync(results).sort()) {
  const checks = JSON.parse(readFileSync(join(results, folder, 'checks.json'), 'utf8'));
  const failed = checks.filter((check) => ['FAILURE', 'WARNING'].includes(check.status));
  const passed = checks.some((check) => check.status === 'SUCCESS');
  const list = [...new Set(failed.map((check) => `${check.id} ${check.status}`))].sort();
  found[scenarioOf(folder)] = failed.length > 0 ? list : passed ? 'passed' : 'skipped';
}
if (Object.keys(found).length === 0) {
  console.error(`${name}: the tool wrote no results`);
  process.exit(1);
}
if (renew) {
  expectations[name] = found;
  writeFileSync(file, JSON.stringify(expectations, null, 1) + '\n');
}
const expected = expectations[name] ?? {};
let differences = 0;
for (const scenario of new Set([...Object.keys(expected), ...Object.keys(found)])) {
  const [before, now] = [expected, found].map((of) => JSON.stringify(of[scenario] ?? 'not run'));
  if (before !== now) {
    console.error(`${name}: ${scenario} was expected to be ${before} and is ${now}`);
    differences += 1;
  }
}
// Whatever is accepted though it does not pass has one reason, also if the tool has skipped it.
const reasons = JSON.parse(readFileSync(join(dirname(file), 'reasons.json'), 'utf8'));
const fits = (pattern, text) => (pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern);
for (const [scenario, result] of Object.entries(expected).filter(([, result]) => result !== 'passed')) {
  const known = reasons.filter(({ of, scenarios }) => fits(of, name.split(' ')[0]) && scenarios.some((one) => fits(one, scenario)));
  if (known.length !== 1) {
    console.error(`${name}: ${scenario} is accepted as ${JSON.stringify(result)}, and reasons.json has ${known.length} reasons for that`);
    differences += 1;
  }
}
const passed = Object.values(found).filter((result) => result === 'passed').length;
console.log(`${name}: ${passed} of ${Object.keys(found).length} scenarios pass, as expected: ${differences === 0}`);
process.exit(differences === 0 ? 0 : 1);
