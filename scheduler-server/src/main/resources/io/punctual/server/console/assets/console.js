// Times in the viewer's zone, and live parts. Everything else is the server's.
(() => {
  'use strict';
  const language = document.documentElement.lang || 'en';
  // The viewer's zone, or UTC where that was chosen. The server reads what is typed in the same one.
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
  const home = own === 'UTC' ? 'Etc/UTC' : own;
  const kept = (/(?:^|; )punctual-zone=([^;]*)/.exec(document.cookie) || [])[1];
  const utc = kept === 'UTC';
  const zone = utc ? 'UTC' : home;
  const keep = (name) => { document.cookie = 'punctual-zone=' + name + '; path=/console; max-age=31536000; samesite=strict' + (window.location.protocol === 'https:' ? '; secure' : ''); };
  if (!utc && kept !== home) {
    keep(home);
    // Once: what was read in another zone is read again.
    if (document.querySelector('[data-zoned]') && document.cookie.includes('punctual-zone=' + home)) window.location.reload();
  }
  const zones = document.getElementById('zone-switch');
  if (zones && home !== 'Etc/UTC') {
    zones.hidden = false;
    zones.setAttribute('aria-pressed', String(utc));
    zones.addEventListener('click', () => { keep(utc ? home : 'UTC'); window.location.reload(); });
  }
  const format = (options) => new Intl.DateTimeFormat(language, {...options, timeZone: zone});
  const full = format({dateStyle: 'medium', timeStyle: 'medium'});
  const fine = format({year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3});
  const named = format({dateStyle: 'medium', timeStyle: 'long'});
  const calendar = new Intl.DateTimeFormat('en-CA', {year: 'numeric', month: '2-digit', day: '2-digit', timeZone: zone});
  const ago = new Intl.RelativeTimeFormat(language, {numeric: 'auto'});
  const steps = [['hour', 3600], ['minute', 60], ['second', 1]];
  // The server's clock is the one that counts.
  const shift = Date.parse(document.body.dataset.now || '') - Date.now() || 0;

  // The number of a date of the zone's calendar.
  const day = (time) => Date.parse(calendar.format(time)) / 86400000;
  const relative = (then, coming) => {
    const past = (then - Date.now() - shift) / 1000;
    // What was to come when the page was made is not late because the page is older.
    const seconds = coming ? Math.max(0, past) : past;
    // "Tomorrow" is a date, however many hours away.
    if (Math.abs(seconds) >= 86400) return ago.format(day(then) - day(Date.now() + shift), 'day');
    const [unit, size] = steps.find(([, s]) => Math.abs(seconds) >= s) || steps[2];
    return ago.format(Math.trunc(seconds / size), unit);
  };
  const length = (ms) => {
    // Behind the last bucket of the histogram.
    if (ms === Infinity) return '> 1 h';
    if (ms < 1000) return (ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)) + ' ms';
    const s = ms / 1000;
    return s < 120 ? s.toFixed(1) + ' s' : s < 7200 ? (s / 60).toFixed(1) + ' min' : s < 172800 ? (s / 3600).toFixed(1) + ' h' : (s / 86400).toFixed(1) + ' d';
  };
  const tick = () => {
    for (const time of document.querySelectorAll('time[datetime]')) {
      const then = Date.parse(time.dateTime);
      if (Number.isNaN(then)) continue;
      const text = time.classList.contains('ago') ? relative(then, time.classList.contains('coming')) : (time.classList.contains('ms') ? fine : full).format(then);
      if (time.textContent !== text) time.textContent = text;
      if (!time.title) time.title = named.format(then) + ' · ' + time.dateTime;
    }
    // What is cut off at its middle is told as a whole; in the page, it would be there twice.
    for (const line of document.querySelectorAll('.line:not([title])')) line.title = line.querySelector('.mid').textContent;
    for (const part of document.querySelectorAll('[data-ms]')) {
      part.textContent = length(Number(part.dataset.ms));
    }
  };

  let live = true;
  // How many answers in a row said that the live part is as it was.
  let unchanged = 0;
  document.addEventListener('visibilitychange', () => { unchanged = 0; });
  const button = document.getElementById('live-switch');
  if (button) {
    button.addEventListener('click', () => {
      live = !live;
      unchanged = 0;
      button.setAttribute('aria-pressed', String(live));
      button.textContent = live ? document.body.dataset.live : document.body.dataset.paused;
    });
  }
  const typing = 'input, select, textarea';
  const reading = (part) => (part.contains(document.activeElement) && document.activeElement.matches(typing)) || part.querySelector('[form=checked]:checked') || String(window.getSelection()) !== '';
  const refresh = (id, event) => () => {
    const part = document.getElementById(id);
    // Nothing moves under the hand or the eye of a reader.
    if (live && !document.hidden && part && window.htmx && !reading(part)) window.htmx.trigger(part, event);
  };

  document.addEventListener('click', (event) => {
    const copy = event.target.closest('[data-copy]');
    if (copy && navigator.clipboard) void navigator.clipboard.writeText(document.querySelector(copy.dataset.copy).textContent);
    if (event.target.id === 'go-back') { event.preventDefault(); window.history.back(); }
  });
  document.addEventListener('submit', (event) => {
    const question = event.target.dataset.confirm;
    if (question && !window.confirm(question)) event.preventDefault();
  });
  const boxes = () => document.querySelectorAll('input[type=checkbox][form=checked]');
  const all = () => document.querySelector('[data-check-all]');
  const count = () => {
    const some = [...boxes()];
    const checked = some.filter((box) => box.checked).length;
    const every = all();
    for (const told of document.querySelectorAll('[data-checked]')) told.textContent = checked ? told.dataset.checked.replace('{0}', checked) : '';
    if (every) {
      every.hidden = false;
      every.checked = checked > 0 && checked === some.length;
      every.indeterminate = checked > 0 && checked < some.length;
    }
  };
  document.addEventListener('change', (event) => {
    if (event.target === all()) for (const box of boxes()) box.checked = event.target.checked;
    count();
  });
  // Who comes back finds the boxes as they were left.
  window.addEventListener('pageshow', count);
  // A part that is as the server would draw it again is not drawn.
  document.addEventListener('htmx:configRequest', (event) => { const tag = event.detail.elt.dataset.tag; if (tag) event.detail.headers['If-None-Match'] = tag; });
  // Before the browser paints: the server's times are wider than ours, and would make tables jump.
  for (const when of ['htmx:afterSwap', 'htmx:oobAfterSwap', 'htmx:afterSettle']) document.addEventListener(when, () => { tick(); count(); });
  // A table that is scrolled aside stays so, and what is unfolded, when its part of the page is replaced.
  const scrolls = '#live .scroll, #charts .scroll';
  const folds = '#live details[id], #charts details[id]';
  // After a refresh, the element with the focus is found by its id, or by its tag and attributes.
  const same = (one) => one.id ? '#' + one.id : [one.tagName, one.getAttribute('href'), one.getAttribute('name'), one.getAttribute('value'), one.getAttribute('aria-label'), one.closest('details[id]')?.id, one.form?.getAttribute('action'), [...(one.form?.elements ?? [])].filter((part) => part.name !== '_csrf').map((part) => part.value)].join(' ');
  let focused = null;
  let aside = [];
  let open = [];
  document.addEventListener('htmx:beforeSwap', (event) => {
    if (event.detail.target.id === 'live') unchanged = event.detail.xhr.status === 304 ? unchanged + 1 : 0;
    // What was asked for before a box was checked comes too late.
    if (event.detail.target.id === 'live' && reading(event.detail.target)) event.detail.shouldSwap = false;
    focused = event.detail.target.contains(document.activeElement) ? same(document.activeElement) : null;
    aside = [...document.querySelectorAll(scrolls)].map((part) => part.scrollLeft); open = [...document.querySelectorAll(folds)].filter((part) => part.open).map((part) => part.id);
  });
  document.addEventListener('htmx:afterSwap', () => { [...document.querySelectorAll(scrolls)].forEach((part, i) => { part.scrollLeft = aside[i] || 0; }); for (const part of document.querySelectorAll(folds)) part.open = open.includes(part.id);
    if (focused) [...document.querySelectorAll('#live :is(a, button, summary, [tabindex]), #charts :is(a, button, summary, [tabindex])')].find((one) => same(one) === focused)?.focus({preventScroll: true});
  });
  // A tab in the background shows that something is urgent.
  const icon = document.getElementById('icon');
  const well = icon.href;
  const show = () => {
    const part = document.querySelector('#live[data-urgent]');
    const wanted = part && Number(part.dataset.urgent) > 0 ? icon.dataset.bad : well;
    if (icon.getAttribute('href') !== wanted) icon.href = wanted;
  };
  document.addEventListener('htmx:afterSettle', show);
  show();
  // g and a letter goes to a page, / to the search, ? tells the keys. All of it can be switched off.
  const keys = document.getElementById('keys');
  const on = document.getElementById('keys-on');
  if (keys) {
    // A browser may keep nothing for pages.
    try { on.checked = window.localStorage.getItem('punctual-keys') !== 'off'; } catch { /* on */ }
    on.addEventListener('change', () => { try { window.localStorage.setItem('punctual-keys', on.checked ? 'on' : 'off'); } catch { /* for this page */ } });
    document.getElementById('keys-show').addEventListener('click', () => keys.showModal());
    let going = 0;
    document.addEventListener('keydown', (event) => {
      if (!on.checked || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || keys.open || event.target.closest('input, select, textarea')) return;
      if (event.key === '?') {
        keys.showModal();
      } else if (event.key === '/') {
        event.preventDefault();
        (document.getElementById('find') || document.querySelector('main input[type=search]'))?.focus();
      } else if (event.key === 'g') {
        going = Date.now();
      } else if (Date.now() - going < 1500) {
        going = 0;
        document.querySelector('nav [data-key="' + CSS.escape(event.key) + '"]')?.click();
      }
    });
  }
  tick();
  setInterval(tick, 1000);
  // Every third turn only, after five unchanged answers.
  const repeat = (ask, ms) => { let turn = 0; setInterval(() => { turn = unchanged < 5 ? 0 : (turn + 1) % 3; if (turn === 0) ask(); }, ms); };
  repeat(refresh('live', 'refresh'), 2000);
  repeat(refresh('charts', 'redraw'), 10000);
})();
