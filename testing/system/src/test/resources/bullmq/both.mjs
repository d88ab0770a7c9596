// Fills a queue of BullMQ, then sends and runs jobs: node both.mjs REDIS_PORT QUEUE LATER SOON
// After SIGTERM it sends none any more, and ends when its queue is empty.
import { Queue, Worker } from 'bullmq';
import IORedis from 'ioredis';

const [, , PORT, QUEUE, LATER, SOON] = process.argv;
const AT_ONCE = 1_000, PAUSE_MS = 10, SHORT_MS = 3_000, LONG_MS = 7_200_000, HOUR_MS = 3_600_000;
const connection = new IORedis({ host: '127.0.0.1', port: Number(PORT), maxRetriesPerRequest: null });
const queue = new Queue(QUEUE, { connection, defaultJobOptions: { removeOnComplete: true } });
const sleep = ms => new Promise(done => setTimeout(done, ms));
const lines = [];
// What the sender and the worker did; Java reads it.
const tell = () => { if (lines.length > 0) process.stdout.write(lines.splice(0).join('\n') + '\n'); };
setInterval(tell, 100);

// timestamp and delay together give the exact due time.
function job(name, due, options = {}) {
  const timestamp = Date.now();
  return { name: 'order', data: `${name} ${due}`, opts: { timestamp, delay: Math.max(0, due - timestamp), ...options } };
}
async function sendAll(jobs) {
  await queue.addBulk(jobs);
  jobs.forEach(({ data }) => lines.push(`sent ${data}`));
}

const begin = Date.now();
for (let i = 0; i < Number(LATER); i += AT_ONCE) {
  await sendAll(Array.from({ length: AT_ONCE }, (_, k) => job(`later-${i + k}`, begin + HOUR_MS + i + k)));
}
const soon = Date.now();
await sendAll(Array.from({ length: Number(SOON) }, (_, k) => job(`soon-${k}`, soon + 5 * k)));
const worker = new Worker(QUEUE, async ({ data }) => { lines.push(`ran ${data} ${Date.now()}`); }, { connection, concurrency: 10 });
worker.on('error', error => lines.push(`error ${error.message}`));
lines.push('filled');

let sends = true;
process.on('SIGTERM', () => { sends = false; });
for (let i = 0; sends; i++) {
  const live = job(`live-${i}`, Date.now() + (i % 2 === 0 ? SHORT_MS : LONG_MS), { jobId: `live-${i}` });
  await queue.add(live.name, live.data, live.opts);
  lines.push(`sent ${live.data}`);
  await sleep(PAUSE_MS);
}
lines.push('stopped');
while (await queue.count() + await queue.getActiveCount() > 0) await sleep(20);
await worker.close();
await queue.close();
connection.disconnect();
tell();
process.exit(0);
