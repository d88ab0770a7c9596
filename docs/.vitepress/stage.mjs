// Copies all pages to target/pages in the layout of the site: links become addresses there, files that are no
// pages become texts, and pictures get their sizes. Fails if a page is missing from the sidebar or named twice.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pages, root, sitePath, staged } from './pages.mjs'

const files = path.join(staged, 'public/files')

/** Pages of the repository that are no pages of the site. */
const outside = ['README.md', 'README.zh.md']

/** Code, which stays as it is, and the targets of links. */
const LINK = /```[\s\S]*?```|`[^`\n]*`|\]\(([^)#\s]*)(#[^)\s]*)?\)/g
const PICTURE =
  /```[\s\S]*?```|`[^`\n]*`|<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img ([^>]*)>\s*<\/picture>|!\[([^\]]*)\]\(([^)\s]+)\)/g

function fail(message) {
  console.error(`site: ${message}`)
  process.exit(1)
}

function markdownFiles(directory) {
  return readdirSync(path.join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(directory, entry.name)
    if (entry.isDirectory()) {
      return ['target', 'node_modules', 'src'].includes(entry.name) || entry.name.startsWith('.')
        ? []
        : markdownFiles(name)
    }
    return name.endsWith('.md') ? [name] : []
  })
}

const twice = pages.filter((page, i) => pages.indexOf(page) !== i)
if (twice.length > 0) fail(`named twice in sidebar.json: ${twice.join(', ')}`)
const missing = markdownFiles('.').filter((page) => !pages.includes(page) && !outside.includes(page))
if (missing.length > 0) fail(`missing from sidebar.json: ${missing.join(', ')}`)

/** Returns the width and height of a picture. */
function size(file) {
  const bytes = readFileSync(file)
  if (file.endsWith('.svg')) {
    return bytes.toString().match(/viewBox="0 0 (\d+) (\d+)"/).slice(1).map(Number)
  }
  if (file.endsWith('.png')) return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff]
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return [(bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1]
    }
    default:
      return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1]
  }
}

function image(page, source, alt, width, kind) {
  const file = path.join(root, path.dirname(page), source)
  if (!existsSync(file)) fail(`${page}: no picture ${source}`)
  const [w, h] = size(file)
  const shown = Math.min(width ?? w, w)
  const relative = source.startsWith('.') ? source : `./${source}`
  return `<img${kind ? ` class="${kind}"` : ''} src="${relative}" alt="${alt}" width="${shown}" height="${Math.round((h * shown) / w)}" loading="lazy">`
}

/** Pictures for the chosen appearance, which may not be that of the system. */
function pictures(page, text) {
  return text.replace(PICTURE, (whole, dark, attributes, alt, source) => {
    if (source) return image(page, source, alt)
    if (!dark) return whole
    const of = (name) => attributes.match(new RegExp(`${name}="([^"]*)"`))?.[1]
    const width = of('width') && Number(of('width'))
    return (
      image(page, of('src'), of('alt'), width, 'in-light') + image(page, dark, of('alt'), width, 'in-dark')
    )
  })
}

/** Makes a text of a file, or of all files in a folder, and returns its address. */
function textOf(target) {
  const file = path.join(root, target)
  const copy = path.join(files, `${target}.txt`)
  mkdirSync(path.dirname(copy), { recursive: true })
  const text = statSync(file).isDirectory()
    ? readdirSync(file, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !/(^|\/)(target|node_modules)(\/|$)/.test(entry.parentPath ?? entry.path))
        .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
        .sort()
        .map((name) => `==> ${path.relative(root, name)} <==\n${readFileSync(name, 'utf8')}`)
        .join('\n')
    : readFileSync(file, 'utf8')
  writeFileSync(copy, text)
  return `/files/${target}.txt`
}

/** Moves code to the left that a page quotes from within a class. */
function outdented(text) {
  return text.replace(/^```java\n([\s\S]*?)^```/gm, (whole, code) => {
    const indents = code.split('\n').filter((line) => line.trim()).map((line) => line.search(/\S/))
    const least = Math.min(...indents)
    return whole.replaceAll(`\n${' '.repeat(least)}`, '\n')
  })
}

/** Joins lines that begin with a placeholder of inline code: VitePress would take it for a tag. */
function joined(text) {
  return text.replace(/```[\s\S]*?```|\n(?=<(?!\/?(?:picture|source|img)\b)[a-z])/g, (found) =>
    found === '\n' ? ' ' : found
  )
}

function links(page, text) {
  return text.replace(LINK, (whole, target, anchor = '') => {
    if (!target || target.includes(':') || target.startsWith('/')) return whole
    const file = path.posix.normalize(path.posix.join(path.posix.dirname(page), target)).replace(/\/$/, '')
    if (!existsSync(path.join(root, file))) fail(`${page}: ${target} does not exist`)
    for (const candidate of [file, `${file}/README.md`]) {
      if (pages.includes(candidate)) return `](/${sitePath(candidate)}${anchor})`
    }
    const first = pages.find((one) => path.posix.dirname(one) === file)
    return `](${first ? `/${sitePath(first)}` : textOf(file)})`
  })
}

rmSync(staged, { recursive: true, force: true })
mkdirSync(staged, { recursive: true })
for (const page of pages) {
  const copy = path.join(staged, sitePath(page))
  mkdirSync(path.dirname(copy), { recursive: true })
  writeFileSync(copy, links(page, pictures(page, joined(outdented(readFileSync(path.join(root, page), 'utf8'))))))
}
cpSync(path.join(root, 'docs/images'), path.join(staged, 'images'), { recursive: true })
