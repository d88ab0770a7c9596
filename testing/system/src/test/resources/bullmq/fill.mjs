// Fills a queue of BullMQ: node fill.mjs REDIS_PORT JOBS
import { FlowProducer, Queue } from 'bullmq';
import IORedis from 'ioredis';

const [, , PORT, JOBS] = process.argv;
const connection = new IORedis({ host: '127.0.0.1', port: Number(PORT), maxRetriesPerRequest: null });
const queue = new Queue('mail', { connection });
const due = 2_000_000_000_000;
const delayed = () => { const timestamp = Date.now(); return { timestamp, delay: due - timestamp }; };
for (let i = 0; i < Number(JOBS); i++) {
  await queue.add('welcome', { number: i }, { ...delayed(), jobId: `mail-${i}` });
}
await queue.add('welcome', {}, { ...delayed(), deduplication: { id: 'newsletter-7' } });
await queue.upsertJobScheduler('newsletter', { every: 3_600_000, startDate: due }, { name: 'news', data: {} });
await new FlowProducer({ connection }).add({
  name: 'parent', queueName: 'mail', children: [{ name: 'child', queueName: 'mail', data: {}, opts: delayed() }],
});
await queue.close();
connection.disconnect();
