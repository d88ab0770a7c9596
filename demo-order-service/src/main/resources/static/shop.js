"use strict";
// Asks for the shop once a second and shows it. All that comes from people is put in as text, never as HTML.

const $ = (id) => document.getElementById(id);
const money = new Intl.NumberFormat("en", { style: "currency", currency: "EUR" });
const rows = new Map(); // order id -> its list item
const shown = new Map(); // order id -> what was last told of it
let ahead = 0; // ms by which the shop's clock is ahead of this one
let first = true;
let asking = false;

async function call(method, path, body) {
  const answer = await fetch(path, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    // What changes something may wait for a scheduler.
    signal: AbortSignal.timeout(method === "GET" ? 5000 : 30000),
  });
  const json = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw Object.assign(new Error(json.detail || `the shop answered ${answer.status}`), { told: true });
  }
  return json;
}

function trouble(error) {
  $("trouble").textContent = error ? (error.told ? `Sorry: ${error.message}.` : "The shop does not answer; trying again.") : "";
  $("trouble").hidden = !error;
}

function clone(template) {
  return $(template).content.firstElementChild.cloneNode(true);
}

// Changes only what is different: what has the focus keeps it, and nothing is read out twice.
function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
}

function showItems(items) {
  for (const item of items) {
    let label = [...$("items").children].find((one) => one.dataset.name === item.name);
    if (!label) {
      label = clone("item");
      label.dataset.name = item.name;
      label.querySelector("input").value = item.name;
      $("items").append(label);
      if (!document.querySelector("#items input:checked")) label.querySelector("input").checked = true;
    }
    text(label.querySelector("b"), item.name);
    text(label.querySelector(".price"), money.format(item.cents / 100));
    text(label.querySelector(".left"), item.available ? `${item.available} left` : "sold out");
  }
}

function left(order) {
  return Math.max(0, Date.parse(order.payUntil) - Date.now() - ahead);
}

function clock(ms) {
  const seconds = Math.ceil(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${String(seconds % 60).padStart(2, "0")}`;
}

function state(order) {
  if (order.status === "CLOSED") return ["closed", "not paid in time, so it is on sale again"];
  if (order.status === "OPEN") {
    return [order.remindedAt ? "reminded" : "open", `${clock(left(order))} left to pay`];
  }
  if (order.notifiedAt) {
    const times = order.notifyAttempts;
    return ["paid", times > 1 ? `the partner took it at attempt ${times}` : "the partner took it at once"];
  }
  if (order.notifyAttempts === 0) return ["paid", "the partner is being told"];
  return ["paid", `told ${order.notifyAttempts === 1 ? "once" : `${order.notifyAttempts} times`}, not taken yet`];
}

function showOrder(order) {
  let row = rows.get(order.id);
  if (!row) {
    row = clone("row");
    text(row.querySelector(".item"), order.item);
    text(row.querySelector(".price"), money.format(order.cents / 100));
    text(row.querySelector(".note"), order.note || "");
    text(row.querySelector(".id"), order.id);
    row.querySelector(".pay").setAttribute("aria-label", `Pay ${order.item}, order ${order.id}`);
    row.querySelector(".pay").addEventListener("click", (event) => pay(order.id, event.target));
    rows.set(order.id, row);
  }
  row.order = order;
  row.dataset.id = order.id;
  row.className = order.status + (order.remindedAt ? " reminded" : "");
  row.querySelector(".pay").hidden = order.status !== "OPEN";
  row.querySelector("progress").hidden = order.status !== "OPEN";
  tick(row);
  return row;
}

function tick(row) {
  const [tag, more] = state(row.order);
  text(row.querySelector(".tag"), tag);
  text(row.querySelector(".more"), more);
  const whole = Date.parse(row.order.payUntil) - Date.parse(row.order.placedAt);
  row.querySelector("progress").value = whole > 0 ? left(row.order) / whole : 0;
}

function showOrders(orders) {
  const list = $("orders");
  orders.forEach((order, index) => {
    const row = showOrder(order);
    if (list.children[index] !== row) list.insertBefore(row, list.children[index] || null);
  });
  const there = new Set(orders.map((order) => order.id));
  for (const [id, row] of rows) {
    if (!there.has(id)) {
      row.remove();
      rows.delete(id);
      shown.delete(id);
    }
  }
  $("none").hidden = orders.length > 0;
}

// For screen readers.
function tell(orders) {
  const news = [];
  for (const order of orders) {
    const now = state(order)[0] + (order.notifiedAt ? ", the partner took it" : "");
    if (!first && shown.get(order.id) !== now) news.push(`${order.item}, order ${order.id}: ${now}`);
    shown.set(order.id, now);
  }
  first = false;
  if (news.length) text($("news"), news.join("; "));
}

async function refresh() {
  if (asking) return;
  asking = true;
  try {
    const shop = await call("GET", "shop");
    ahead = Date.parse(shop.now) - Date.now();
    showItems(shop.items);
    showOrders(shop.orders);
    tell(shop.orders);
    for (const radio of document.querySelectorAll("#modes input")) radio.checked = radio.value === shop.partner;
    if (document.body.dataset.lost) trouble();
    delete document.body.dataset.lost;
  } catch (error) {
    document.body.dataset.lost = "yes";
    trouble(error);
  } finally {
    asking = false;
  }
}

async function act(button, work) {
  if (button) button.disabled = true;
  try {
    trouble();
    await work();
  } catch (error) {
    trouble(error.told ? error : { told: true, message: "the shop did not answer; look below whether it was done" });
  } finally {
    if (button) button.disabled = false;
    await refresh();
  }
}

function pay(id, button) {
  return act(button, () => call("POST", `orders/${encodeURIComponent(id)}/pay`));
}

$("order").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  const wish = new FormData(form);
  act(form.querySelector("button"), async () => {
    await call("POST", "orders", {
      item: wish.get("item"),
      note: wish.get("note"),
      payWithinSeconds: wish.get("seconds") ? Number(wish.get("seconds")) : null,
    });
    form.elements.note.value = "";
  });
});

$("modes").addEventListener("change", (event) => act(null, () => call("PUT", "partner", { mode: event.target.value })));

setInterval(() => {
  if (document.visibilityState === "visible") refresh();
}, 1000);
setInterval(() => rows.forEach(tick), 250);
document.addEventListener("visibilitychange", refresh);
refresh();
