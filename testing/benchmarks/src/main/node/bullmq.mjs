// The contest of the Java programs, for BullMQ:
// node bullmq.mjs NAME FIGURES_FILE REDIS_PORT PARTS WARM_UP_SECONDS,REPETITIONS,LATENESS_REPETITIONS,SUBMITS,SUBMIT_SECONDS,RATE,SECONDS,DRAINED,STORED
import { Queue, Worker } from 'bullmq';
import IORedis from 'ioredis';
import { appendFileSync } from 'node:fs';

const [, , WHO, FILE, PORT, PARTS, SCALE] = process.argv;
const [WARM_UP_SECONDS, REPETITIONS, LATENESS_REPETITIONS, SUBMITS, SUBMIT_SECONDS, RATE, SECONDS, DRAINED, STORED] = SCALE.split(',').map(Number);
const PAYLOAD = 100, SUBMITTERS = 16, BULK_SUBMITTERS = 4, BULK = 500, CONCURRENCY = 50;
const connection = new IORedis({ host: '127.0.0.1', port: Number(PORT), maxRetriesPerRequest: null });
const sleep = ms => new Promise(done => setTimeout(done, ms));
const inAnHour = () => Date.now() + 3_600_000;

function figure(part, metric, values, note = '') {
  appendFileSync(FILE, JSON.stringify({ part, who: WHO, metric, values, note }) + '\n');
  console.log(`  ${part} ${WHO} ${metric}: ${values.map(value => value.toFixed(1)).join(' ')}; ${note}`);
}

let round = 0, current, strays = 0;
function begin(jobs) {
  current = {
    round: ++round, jobs, runs: new Uint8Array(jobs), lateness: new Float64Array(jobs), distinct: 0,
    payload(index, due) { return `${this.round} ${index} ${due} `.padEnd(PAYLOAD, 'x'); },
    twice() { return this.runs.reduce((sum, runs) => sum + (runs > 1), 0); },
    early() { let early = 0; for (let i = 0; i < jobs; i++) early += this.runs[i] > 0 && this.lateness[i] < 0; return early; },
  };
  return current;
}
async function handle(job) {
  const now = performance.timeOrigin + performance.now();
  const [number, index, due] = job.data.p.split(' ');
  if (job.data.p.length !== PAYLOAD || Number(number) !== current.round) { strays++; return; }
  if (++current.runs[index] === 1) { current.lateness[index] = now - Number(due); current.distinct++; }
}

const queue = new Queue('jobs', { connection, defaultJobOptions: { removeOnComplete: true } });
let worker;
async function open() {
  worker = new Worker('jobs', handle, { connection, concurrency: CONCURRENCY });
  worker.on('error', error => console.error('worker', error.message));
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
}
// timestamp and delay together give the exact due time.
const options = due => { const timestamp = Date.now(); return { timestamp, delay: Math.max(0, due - timestamp) }; };
const submit = (recorder, index, due) => queue.add('t', { p: recorder.payload(index, due) }, options(due));
const bulk = (recorder, from, to, due) => queue.addBulk(
  Array.from({ length: to - from }, (_, k) => ({ name: 't', data: { p: recorder.payload(from + k, due) }, opts: options(due) })));
async function pending() {
  const counts = await queue.getJobCounts('delayed', 'waiting', 'active', 'prioritized');
  return Object.values(counts).reduce((a, b) => a + b, 0);
}
// The worker waits in a blocking call: it is opened again on what is empty then.
async function clear() {
  await worker.close(true);
  await connection.flushall();
  await open();
}
async function parallel(threads, count, body) {
  let next = 0;
  await Promise.all(Array.from({ length: threads }, async () => { for (let i; (i = next++) < count;) await body(i); }));
}
const load = (recorder, jobs, due) => parallel(BULK_SUBMITTERS, Math.ceil(jobs / BULK),
  b => bulk(recorder, b * BULK, Math.min(jobs, (b + 1) * BULK), due));
async function complete(recorder, until) {
  while (recorder.distinct < recorder.jobs && Date.now() < until) await sleep(1);
}
function accounts() {
  const sums = { missing: 0, twice: 0, early: 0 };
  return {
    add(recorder) { sums.missing += recorder.jobs - recorder.distinct; sums.twice += recorder.twice(); sums.early += recorder.early(); },
    text: () => Object.entries(sums).filter(([, sum]) => sum).map(([name, sum]) => `${sum} ${name.toUpperCase()}`).join(', '),
  };
}

// One round at least is not measured, then until the time is over and a round is hardly faster than those before.
function warmUp() {
  const begin = performance.now();
  let over = false, best = 0;
  return rate => {
    const counts = over, times = (performance.now() - begin) / 1000 / WARM_UP_SECONDS;
    over ||= times > 3 || times > 1 && rate < 1.1 * best;
    best = Math.max(best, rate);
    return counts;
  };
}

async function submitOnce(part) {
  await clear();
  const recorder = begin(SUBMITS), start = performance.now();
  if (part === 'A2') await load(recorder, SUBMITS, inAnHour());
  else await parallel(SUBMITTERS, SUBMITS, i => submit(recorder, i, inAnHour()));
  const seconds = (performance.now() - start) / 1000, stored = await pending();
  if (stored !== SUBMITS) throw new Error(`bullmq holds ${stored} jobs, not ${SUBMITS}`);
  return seconds;
}

async function submits(part) {
  const rates = [], isMeasured = warmUp();
  while (rates.length < REPETITIONS) {
    let jobs = 0, seconds = 0;
    do {
      jobs += SUBMITS;
      seconds += await submitOnce(part);
    } while (seconds < SUBMIT_SECONDS);
    if (isMeasured(jobs / seconds)) rates.push(jobs / seconds);
  }
  figure(part, 'jobs/s', rates, part === 'A2' ? 'addBulk(500)' : '');
}

async function arrivals(seconds, account) {
  await clear();
  const jobs = RATE * seconds, recorder = begin(jobs);
  let lastDue = 0, seed = 7919;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  const start = performance.now(), startMillis = Date.now(), submitted = [];
  for (let i = 0; i < jobs;) {
    const elapsed = performance.now() - start;
    for (; i < jobs && i * 1000 / RATE <= elapsed; i++) {
      const due = startMillis + Math.floor(i * 1000 / RATE) + 2000 + Math.floor(random() * 3001);
      lastDue = Math.max(lastDue, due);
      submitted.push(submit(recorder, i, due));
    }
    await sleep(1);
  }
  await Promise.all(submitted);
  await complete(recorder, lastDue + 30_000);
  account.add(recorder);
  return recorder.lateness.filter((_, i) => recorder.runs[i]).sort();
}

async function lateness(part) {
  const columns = [[], [], [], []], all = [], account = accounts();
  for (let repetition = 1; repetition <= LATENESS_REPETITIONS; repetition++) {
    const sorted = await arrivals(SECONDS, account);
    all.push(...sorted);
    [0.5, 0.9, 0.99, 1].forEach((q, i) => columns[i].push(sorted[Math.ceil(q * sorted.length) - 1]));
  }
  ['p50 ms', 'p90 ms', 'p99 ms', 'max ms'].forEach((metric, i) => figure(part, metric, columns[i], account.text()));
  all.sort((a, b) => a - b);
  figure(part, 'ms at percentiles', [0, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99]
    .filter(percent => (100 - percent) / 100 * all.length >= 2)
    .map(percent => all[Math.max(1, Math.ceil(percent / 100 * all.length)) - 1]), account.text());
}

async function drain(part) {
  const rates = [], account = accounts(), isMeasured = warmUp();
  let millisPerJob = 0.1;
  while (rates.length < REPETITIONS) {
    await clear();
    const recorder = begin(DRAINED), start = Date.now();
    const due = start + 700 + Math.floor(DRAINED * millisPerJob * 1.3);
    await load(recorder, DRAINED, due);
    const loaded = Date.now();
    millisPerJob = (loaded - start) / DRAINED;
    await complete(recorder, due + 120_000);
    if (loaded > due - 200) continue;
    while (await pending() > 0 && Date.now() < due + 150_000) await sleep(20);
    const rate = recorder.distinct * 1000 / (Date.now() - due);
    if (isMeasured(rate)) { account.add(recorder); rates.push(rate); }
  }
  figure(part, 'jobs/s', rates, account.text());
}

const usedMemory = async () => Number(/used_memory:(\d+)/.exec(await connection.info('memory'))[1]);
async function memory(part) {
  await clear();
  await load(begin(1000), 1000, inAnHour());
  const before = await usedMemory(), had = await pending();
  await load(begin(STORED), STORED, inAnHour());
  const stored = await pending() - had;
  figure(part, 'bytes/job over the payload', [(await usedMemory() - before) / stored - PAYLOAD], `${stored} jobs`);
}

console.log(`bullmq: BullMQ ${(await import('bullmq/package.json', { with: { type: 'json' } })).default.version}: one queue, one worker, concurrency ${CONCURRENCY}, removeOnComplete, Node ${process.version}`);
await open();
for (const part of PARTS.split(',')) {
  await { A1: submits, A2: submits, B: lateness, C: drain, D: memory }[part](part);
}
if (strays) figure('-', 'runs of jobs of an earlier round', [strays]);
process.exit(0);
