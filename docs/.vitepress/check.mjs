// Checks the built site: no request to another host, no dead link, no page over its weight. Prints its figures.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { pages, root, site } from './pages.mjs'

const MOST_BYTES = 300_000
const base = process.env.SITE_BASE ?? '/'
const found = []

const files = readdirSync(site, { recursive: true }).filter((name) => statSync(path.join(site, name)).isFile())
const read = (name) => readFileSync(path.join(site, name), 'utf8')
const sent = new Map()

/** Returns the bytes of a file, and those that a host sends of it: texts by gzip, pictures as they are. */
function bytes(name) {
  if (!sent.has(name)) {
    const content = readFileSync(path.join(site, name))
    const text = /\.(html|css|js|json|svg)$/.test(name)
    sent.set(name, [content.length, text ? gzipSync(content).length : content.length])
  }
  return sent.get(name)
}

/** Returns the sums of both. */
function total(names) {
  return [...names].map(bytes).reduce((sum, one) => [sum[0] + one[0], sum[1] + one[1]], [0, 0])
}

/** Adds a script and those that it imports at once; others are loaded when they are needed. */
function addScript(name, all) {
  if (all.has(name) || !existsSync(path.join(site, name))) return
  all.add(name)
  for (const match of read(name).matchAll(/(?:from|import)\s*"(\.[^"]+\.js)"/g)) {
    addScript(path.posix.join(path.posix.dirname(name), match[1]), all)
  }
}

const attribute = (tag, name) => tag.match(new RegExp(`\\s${name}="([^"]*)"`))?.[1]

const html = files.filter((name) => name.endsWith('.html'))
const ids = new Map(
  html.map((name) => [name, new Set([...read(name).matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]))])
)

/** Returns the file that an address of the site leads to. */
function fileOf(address, from) {
  const url = new URL(address, `http://site${base}${from}`)
  const name = decodeURIComponent(url.pathname).slice(base.length)
  return name === '' || name.endsWith('/') ? `${name}index.html` : name
}

for (const style of files.filter((name) => name.endsWith('.css'))) {
  for (const match of read(style).matchAll(/(?:url\(|@import)\s*["']?((?:https?:)?\/\/[^"')\s]+)/g)) {
    found.push(`${style} loads ${match[1]}`)
  }
}

const weights = []
for (const page of html) {
  const text = read(page)
  if (!text.includes('http-equiv="Content-Security-Policy"')) found.push(`${page} has no policy`)
  if (text.includes('<pre><code>')) found.push(`${page} has an indented block, which does not scroll: use a fence`)
  const loaded = new Set([page])
  const pictures = { light: new Set(), dark: new Set() }
  for (const [tag, name] of text.matchAll(/<(link|script|img|source|iframe|video|audio|embed|object)\b[^>]*>/g)) {
    for (const address of ['src', 'href', 'srcset', 'data'].map((one) => attribute(tag, one))) {
      if (!address || address.startsWith('data:')) continue
      if (/^(https?:)?\/\//.test(address)) {
        found.push(`${page} loads ${address}`)
        continue
      }
      const file = fileOf(address, page)
      if (!existsSync(path.join(site, file))) {
        found.push(`${page}: ${address} is not there`)
      } else if (name === 'img') {
        // One of the two appearances is shown; the pictures of the other one are never loaded.
        for (const kind of ['light', 'dark']) {
          if (!tag.includes(kind === 'light' ? 'in-dark' : 'in-light')) pictures[kind].add(file)
        }
      } else if (file.endsWith('.js')) {
        addScript(file, loaded)
      } else if (name === 'link') {
        loaded.add(file)
      }
    }
  }
  const [whole, ofAll] = total(loaded)
  const shown = Math.max(...Object.values(pictures).map((files) => total(files)[1]))
  weights.push({ page, raw: whole + shown, gzip: ofAll + shown, pictures: shown })
  if (ofAll + shown > MOST_BYTES) found.push(`${page}: a visit loads ${ofAll + shown} bytes, more than ${MOST_BYTES}`)

  for (const [tag] of text.matchAll(/<a\b[^>]*>/g)) {
    const address = attribute(tag, 'href')?.replaceAll('&amp;', '&')
    if (!address || /^[a-z]+:/.test(address)) continue
    const file = fileOf(address, page)
    const anchor = decodeURIComponent(new URL(address, 'http://site/').hash.slice(1))
    if (!existsSync(path.join(site, file))) {
      found.push(`${page}: ${address} is dead`)
    } else if (anchor && ids.has(file) && !ids.get(file).has(anchor)) {
      found.push(`${page}: ${address} has no such heading`)
    }
  }
}

/** Counts words and sentences of the prose: no code, tables, headings or lists' marks. */
function prose(page) {
  const text = readFileSync(path.join(root, page), 'utf8')
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/```[\s\S]*?```/g, '')
    .replace(/<[^>]+>/g, '')
    .replace(/^\s*[|#].*$/gm, '\n')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:[-*]|\d+\.)\s+/gm, '\n\n')
    .replace(/`[^`]*`/g, 'x')
  const sentences = text
    .split(/\n\s*\n|[.!?:](?=\s)/)
    .map((sentence) => sentence.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu)?.length ?? 0)
    .filter((count) => count > 0)
  return [sentences.reduce((sum, count) => sum + count, 0), sentences.length]
}

const english = pages.filter((page) => !page.startsWith('docs/zh/') && !page.startsWith('docs/adr/'))
const [words, sentences] = english.map(prose).reduce((sum, one) => [sum[0] + one[0], sum[1] + one[1]], [0, 0])
console.log(`${html.length} pages; words of prose: ${words}, ${(words / sentences).toFixed(1)} a sentence`)
const lines = english
  .filter((page) => page.startsWith('docs/'))
  .map((page) => [readFileSync(path.join(root, page), 'utf8').split('\n').length - 1, page])
  .sort((a, b) => b[0] - a[0])
console.log(`longest: ${lines.slice(0, 3).map(([count, page]) => `${page} ${count} lines`).join(', ')}`)
/** Prints the heaviest pages and the median of a figure. */
function printWeights(what, of) {
  const sorted = [...weights].sort((one, other) => of(other) - of(one))
  const kB = (one) => `${Math.round(of(one) / 1000)} kB`
  const heaviest = sorted.slice(0, 3).map((one) => `${one.page} ${kB(one)}`).join(', ')
  console.log(`${what}: median ${kB(sorted[Math.floor(sorted.length / 2)])}; heaviest: ${heaviest}`)
}

printWeights('first visit as sent, by gzip, with all pictures', (one) => one.gzip)
printWeights('the same without pictures', (one) => one.gzip - one.pictures)
printWeights('the same not compressed, with all pictures', (one) => one.raw)
const search = total(files.filter((name) => /(localSearchIndexroot|LocalSearchBox)[^/]*\.js$/.test(name)))
console.log(`first search: ${Math.round(search[1] / 1000)} kB more, by gzip`)
if (found.length > 0) {
  console.error([...new Set(found)].join('\n'))
  console.error(`site: ${found.length} findings`)
  process.exit(1)
}
