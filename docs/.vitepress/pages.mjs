// The pages of the site and the addresses that they have there.
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')
export const staged = path.join(root, 'docs/target/pages')
export const site = path.join(root, 'docs/target/site')

export const sidebar = JSON.parse(readFileSync(path.join(root, 'docs/.vitepress/sidebar.json'), 'utf8'))

/** Pages that readers reach otherwise: the two home pages. */
const homes = ['docs/index.md', 'docs/zh/index.md']

const decisions = readdirSync(path.join(root, 'docs/adr'))
  .filter((name) => name.endsWith('.md'))
  .sort()
  .map((name) => `docs/adr/${name}`)

/** All pages, as paths in the repository. */
export const pages = [
  ...homes,
  ...[...sidebar.parts, ...sidebar.zh].flatMap((part) => Object.keys(part.pages)),
  ...decisions
]

/** Returns a page's path on the site: that in docs, or one in the folder project if it is elsewhere. */
export function sitePath(page) {
  return page.startsWith('docs/')
    ? page.slice('docs/'.length)
    : `project/${page.replace(/README\.md$/, 'index.md').toLowerCase()}`
}

/** Returns the address of a page, without the suffix. */
function address(page) {
  return '/' + sitePath(page).replace(/(index)?\.md$/, '')
}

function item([page, text]) {
  return { text, link: address(page) }
}

/** Returns the sidebar in VitePress's form. */
export function sidebarItems(parts) {
  return parts.map((part) => ({ text: part.text, items: Object.entries(part.pages).map(item) }))
}

/** Returns the sidebar of the decisions, which has each of them. */
export function decisionItems() {
  const titles = decisions.map((page) => {
    const number = Number(path.basename(page).slice(0, 4))
    const title = readFileSync(path.join(root, page), 'utf8').match(/^# (.+)$/m)[1]
    return { text: `${number}. ${title.replaceAll('`', '')}`, link: address(page) }
  })
  return [{ text: 'Decisions', items: titles }]
}

/** Returns the link to the first decision, for the end of the last part. */
export function decisionsLink() {
  return { text: 'Decisions', link: address(decisions[0]) }
}

/** Returns the address of the first page of a part. */
export function firstOf(part) {
  return address(Object.keys(part.pages)[0])
}

/** Returns the anchor of a heading, as the usual viewers of Markdown make it. */
export function slugify(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
