import { decisionItems, decisionsLink, firstOf, sidebar, sidebarItems, slugify } from './pages.mjs'

const main = sidebarItems(sidebar.parts)
main.at(-1).items.push(decisionsLink())

// The browser itself refuses requests to other hosts. Themes and highlighting need inline styles and scripts.
const policy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'"

const HAN = /\p{Script=Han}{2,}/gu

/** Adds all parts of Chinese texts as words: the search finds words by their beginning only. */
function words(text) {
  return text.replace(HAN, (run) => {
    const parts = Array.from(run, (_, i) => run.slice(i, i + 4))
    return `${run} ${parts.join(' ')}`
  })
}

/** The highlighter's pairs of colors that have a class in style.css, which is shorter than a style a word. */
const COLORS = {
  '#005CC5#79B8FF': 'hc',
  '#032F62#9ECBFF': 'hs',
  '#D73A49#F97583': 'hk',
  '#22863A#85E89D': 'ht',
  '#6F42C1#B392F0': 'hf',
  '#6A737D#6A737D': 'hm',
  '#E36209#FFAB70': 'hv'
}

const shortStyles = {
  name: 'short-styles',
  postprocess: (html) =>
    html
      .replace(/<span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;?">([^<]*)<\/span>/g, '$1')
      .replace(/style="--shiki-light:(#\w{6});--shiki-dark:(#\w{6});?"/g, (style, light, dark) =>
        COLORS[light + dark] ? `class="${COLORS[light + dark]}"` : style
      )
}

/** VitePress learns only in the browser that the bar is beside a sidebar, and moves it then. */
function placeBar(html) {
  return /class="VPContent[^"]*has-sidebar/.test(html)
    ? html.replace('class="VPNavBar"', 'class="VPNavBar has-sidebar"')
    : html
}

export default {
  title: 'Punctual',
  description: 'Runs a job at a set time, in the application that owns it',
  base: process.env.SITE_BASE ?? '/',
  srcDir: 'target/pages',
  outDir: 'target/site',
  cacheDir: 'target/cache',
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: policy }],
    ['link', { rel: 'icon', href: 'data:,' }]
  ],
  transformHtml: placeBar,
  markdown: {
    anchor: { slugify },
    codeTransformers: [shortStyles],
    config(md) {
      // Vue would fill in what stands in double braces.
      const code = md.renderer.rules.code_inline
      md.renderer.rules.code_inline = (tokens, i, ...rest) => {
        tokens[i].attrSet('v-pre', '')
        return code(tokens, i, ...rest)
      }
      // Chinese has no spaces, so a line that ends in it continues without one.
      const softbreak = md.renderer.rules.softbreak
      md.renderer.rules.softbreak = (tokens, i, ...rest) =>
        /[\p{Script=Han}，。；：、）」！？]$/u.test(tokens[i - 1]?.content ?? '') ? '' : softbreak(tokens, i, ...rest)
    }
  },
  locales: {
    root: {
      label: 'English',
      lang: 'en',
      themeConfig: {
        nav: sidebar.parts.map((part) => ({ text: part.text, link: firstOf(part) })),
        sidebar: { '/': main, '/adr/': [...decisionItems(), main.at(-1)] }
      }
    },
    zh: {
      label: '中文',
      lang: 'zh-CN',
      description: '在设定的时间，在任务所属的应用里执行任务',
      themeConfig: {
        nav: [
          ...sidebar.zh.map((part) => ({ text: part.text, link: firstOf(part) })),
          ...sidebar.parts.slice(1).map((part) => ({ text: part.zh, link: firstOf(part) }))
        ],
        sidebar: sidebarItems(sidebar.zh),
        outline: { label: '本页内容' },
        docFooter: { prev: '上一页', next: '下一页' },
        darkModeSwitchLabel: '外观',
        lightModeSwitchTitle: '切换到浅色',
        darkModeSwitchTitle: '切换到深色',
        sidebarMenuLabel: '目录',
        returnToTopLabel: '回到顶部',
        langMenuLabel: '语言',
        skipToContentLabel: '跳到正文'
      }
    }
  },
  themeConfig: {
    // Most pages are in English alone, so the other language begins at its home page.
    i18nRouting: false,
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: {
        // Titles stay as they are, since results show them; their parts go into the text behind them.
        _render(source, env, md) {
          // The list of changes has all words, and would stand before the pages on each subject.
          if (env.relativePath === 'project/changelog.md') return ''
          const html = md.render(source, env)
          return html
            .split(/(<h[1-6][^>]*>[\s\S]*?<\/h[1-6]>)/)
            .map((part, i) =>
              i % 2 === 0 ? words(part) : part + words(part.replace(/<[^>]*>/g, ''))
            )
            .join('')
        },
        locales: {
          zh: {
            translations: {
              button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
              modal: {
                displayDetails: '显示详细内容',
                resetButtonTitle: '清除',
                backButtonTitle: '关闭',
                noResultsText: '没有找到',
                footer: {
                  selectText: '打开',
                  navigateText: '选择',
                  closeText: '关闭'
                }
              }
            }
          }
        }
      }
    }
  }
}
