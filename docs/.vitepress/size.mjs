// How much memory jobs take in Redis, and how much time they cost it. The calculator of docs/size.md and its table
// use this, and SizePageIT compares it with a real Redis.

/** Bytes that jemalloc gives for so many: steps of 16 up to 128, then four steps each time the size doubles. */
export function allocated(bytes) {
  if (bytes <= 8) return 8
  const step = bytes <= 128 ? 16 : 2 ** (Math.ceil(Math.log2(bytes)) - 3)
  return Math.ceil(bytes / step) * step
}

/** A text of Redis: a header by its length, and a byte at its end. */
function text(bytes) {
  return allocated(bytes + (bytes < 32 ? 2 : bytes < 256 ? 4 : 6))
}

/** The slots of a table: a power of two, at least as many as entries. */
function slots(entries) {
  return (8 * 2 ** Math.ceil(Math.log2(Math.max(4, entries)))) / Math.max(1, entries)
}

/** An entry of a hash table, and the mean node of a sorted set. */
const ENTRY = 32
const NODE = 54

function field(name, value, entries) {
  return ENTRY + text(name) + text(value) + slots(entries)
}

function member(name, entries) {
  return ENTRY + NODE + text(name) + slots(entries)
}

/** Bytes of Redis for a job that waits. */
export function waitingJob({ jobs, payload, id, tags, tag, traced }) {
  const origin = traced ? 3 + 55 + 12 : 12
  // acceptance, attempts, incarnation and a line's end; flags, due time and the length of params
  const record = 8 + 8 + origin + 1 + tags * (tag + 1) + 1 + 4 + 2 + payload + (tags > 0 ? 1 : 0) + tags * (tag + 1)
  return field(id, record, jobs) + member(id, jobs) + tags * member(tag + 1 + id, jobs * tags)
}

/** Bytes of Redis for a job that ended and is still known: its tombstone. */
export function endedJob({ jobs, id }) {
  // incarnation, note of the end, kind, hash of the content, time
  return field(id, 8 + 1 + 40 + 3 + 20 + 1 + 13, jobs) + member(id, jobs)
}

/** Microseconds of Redis's thread for the life of a job, a job a call: measured with 100 bytes and with 10 kB. */
function life(payload) {
  return 76 + ((125 - 76) * Math.max(0, payload - 100)) / 9_900
}

/** Jobs a second that one scheduler took one by one, on two processors that ran all parts. */
const SCHEDULER = 6_367

/** The share of each that the plan uses, so that a peak or a failure has room. */
const USED = { thread: 0.5, scheduler: 0.5, memory: 0.75 }

/**
 * The size of a system.
 *
 * @param jobs that wait at the same time
 * @param payload bytes of the params of a job
 * @param id bytes of a task id
 * @param tags of a job
 * @param tag bytes of a tag
 * @param traced whether jobs carry a trace
 * @param rate jobs a second, submitted and run, at the peak
 * @param retention minutes for which ended jobs are known (punctual.tombstones)
 */
export function size({ jobs, payload, id = 36, tags = 0, tag = 20, traced = false, rate, retention = 10 }) {
  const ended = Math.round(rate * 60 * retention)
  const waitingBytes = jobs * waitingJob({ jobs, payload, id, tags, tag, traced })
  const endedBytes = ended * endedJob({ jobs: ended, id })
  const used = waitingBytes + endedBytes
  const thread = (rate * life(payload)) / 1e6
  return {
    ended,
    waitingBytes,
    endedBytes,
    used,
    maxmemory: used / USED.memory,
    thread,
    nodes: Math.max(1, Math.ceil(thread / USED.thread)),
    // One more than the rate needs, so that one may fail.
    schedulers: Math.max(1, Math.ceil(rate / (SCHEDULER * USED.scheduler))) + 1
  }
}

/** Megabytes as people read them. */
export function megabytes(bytes) {
  const mb = bytes / 1e6
  return mb >= 10_000 ? `${(mb / 1000).toFixed(0)} GB` : mb >= 1000 ? `${(mb / 1000).toFixed(1)} GB` : `${Math.max(1, Math.round(mb))} MB`
}

/** The worked examples of the page. */
export const EXAMPLES = [
  { name: 'a small shop', jobs: 10_000, payload: 200, rate: 5 },
  { name: 'a shop with carts and reminders', jobs: 1_000_000, payload: 200, rate: 100 },
  { name: 'the same with 2 kB payloads', jobs: 1_000_000, payload: 2_000, rate: 100 },
  { name: 'notifications with a tag each', jobs: 5_000_000, payload: 300, tags: 1, rate: 1_000 },
  { name: 'short jobs at a high rate', jobs: 100_000, payload: 100, rate: 5_000 },
  { name: 'ends known for a day', jobs: 100_000, payload: 100, rate: 50, retention: 1_440 }
]

/** The rows of the table of worked examples, in Markdown. */
export function rows() {
  const number = (value) => value.toLocaleString('en-US')
  return EXAMPLES.map((input) => {
    const result = size(input)
    const cells = [
      input.name,
      number(input.jobs),
      number(input.payload),
      number(input.rate),
      number(input.retention ?? 10),
      megabytes(result.waitingBytes),
      megabytes(result.endedBytes),
      megabytes(result.maxmemory),
      `${(result.thread * 100).toFixed(result.thread < 0.01 ? 1 : 0)} %`,
      result.nodes,
      result.schedulers
    ]
    return `| ${cells.join(' | ')} |`
  })
}
