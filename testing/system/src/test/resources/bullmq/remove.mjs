// Removes jobs of a queue of BullMQ, as an application cancels them: node remove.mjs REDIS_PORT ID...
import { Queue } from 'bullmq';
import IORedis from 'ioredis';

const [, , PORT, ...IDS] = process.argv;
const connection = new IORedis({ host: '127.0.0.1', port: Number(PORT), maxRetriesPerRequest: null });
const queue = new Queue('mail', { connection });
for (const id of IDS) await (await queue.getJob(id)).remove();
await queue.close();
connection.disconnect();
