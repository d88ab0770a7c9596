// A worker for Punctual: registers in Eureka, gets a POST for each job, and answers with a status.
import { createHash } from "node:crypto";
import http from "node:http";
import os from "node:os";
import { HTTP } from "cloudevents";
import { Eureka } from "eureka-js-client";
import { Webhook } from "standardwebhooks";

const application = process.env.APPLICATION ?? "mail-service";
const taskType = process.env.TASK_TYPE ?? "mail.send";
// Its user and password are sent as a header: libraries log addresses.
const registry = new URL(process.env.EUREKA_URL ?? "http://localhost:8761/eureka/");
const [user, password] = [registry.username, registry.password].map(decodeURIComponent);
registry.username = registry.password = "";
const hostName = process.env.HOST ?? os.hostname();
const callbackPath = "/jobs";
// whsec_..., as the scheduler's command credentials prints it. Without it everybody is let in, and
// nothing is signed: on one's own machine only.
const secret = process.env.PUNCTUAL_CALLBACK_SECRET;
const webhook = secret === undefined ? null : new Webhook(secret);

// The work. Mail to busy@... is not taken at the first attempt; an address without @ never is.
function send(mail, attempt) {
  if (typeof mail?.to !== "string" || !mail.to.includes("@")) {
    return 422; // never again: the job becomes a dead letter
  }
  if (mail.to.startsWith("busy@") && attempt === 1) {
    return 429; // not now: again after Retry-After, or when the job's retry policy says
  }
  return 200; // done
}

function work(request, body) {
  let event;
  try {
    event = HTTP.toEvent({ headers: request.headers, body });
  } catch (e) {
    console.error(`no event, or none that can be read: ${e.message}`);
    return 422;
  }
  const { id, type, source, time, attempt, data } = event;
  const status = send(data, Number(attempt));
  console.log(JSON.stringify({ status, id, type, source, time, attempt, data }));
  return status;
}

function signedAt(headers) {
  return Number.parseInt(headers["webhook-timestamp"], 10); // epoch seconds
}

// The id says until when a call may be run, in epoch ms; our clock may be half a minute ahead.
function isLate(headers) {
  const end = /_(\d{13})$/.exec(headers["webhook-id"]);
  return end !== null && Date.now() > Number(end[1]) + 30_000;
}

// Throws unless the call is signed with our key, five minutes old at most, and the first of its id.
const seen = new Map(); // ids, and when their signatures are too old to be good
function verify(headers, body) {
  webhook.verify(body, headers, { jsonParse: false });
  const now = Date.now() / 1000;
  for (const [id, until] of seen) {
    if (until < now) {
      seen.delete(id);
    }
  }
  const id = headers["webhook-id"];
  if (seen.has(id)) {
    throw new Error(`${id} was here before`);
  }
  seen.set(id, signedAt(headers) + 300);
}

// Says that this status is our answer to this call, and not somebody else's.
function signature(headers, status) {
  const time = new Date(signedAt(headers) * 1000);
  return webhook.sign(`${headers["webhook-id"]}_answer`, time, String(status));
}

// Proves to a scheduler that we have the key; without this proof, it sends no jobs. The address is
// the one that we registered, not the request's: an impostor could pass its own ping on to us.
function proof(ping) {
  if (!webhook || ping === undefined) {
    return {};
  }
  const address = `http://${hostName}:${server.address().port}${callbackPath}`;
  const asked = createHash("sha256").update(`${ping} ${address}`).digest("hex");
  return { "punctual-signature": webhook.sign("ping", new Date(1000), asked) };
}

const server = http.createServer(async (request, response) => {
  if (request.method === "OPTIONS" && request.url === callbackPath) {
    // A scheduler's ping: jobs can come here. Nothing is run.
    response.writeHead(204, { allow: "POST", ...proof(request.headers["punctual-ping"]) }).end();
    return;
  }
  if (request.method !== "POST" || request.url !== callbackPath) {
    response.writeHead(404).end();
    return;
  }
  try {
    const bytes = Buffer.concat(await request.toArray());
    let body;
    try {
      // What is no UTF-8 is no job, and two such bodies must not pass for the same.
      body = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
      if (webhook) {
        verify(request.headers, body);
      }
    } catch (e) {
      console.error(`refused: ${e.message}`);
      response.writeHead(401).end();
      return;
    }
    if (webhook && isLate(request.headers)) {
      console.error(`refused: ${request.headers["webhook-id"]} came too late`);
      response.writeHead(421).end(); // another instance may run it
      return;
    }
    const status = work(request, body);
    const headers = status === 429 ? { "Retry-After": "1" } : {};
    if (webhook) {
      headers["punctual-signature"] = signature(request.headers, status);
    }
    response.writeHead(status, headers).end();
  } catch (e) {
    console.error(e);
    // again, as the job's retry policy says; the console shows the text
    response.writeHead(500, { "Content-Type": "text/plain" }).end(String(e));
  }
});

server.listen(Number(process.env.PORT ?? 0), () => {
  const { port } = server.address();
  const eureka = new Eureka({
    requestMiddleware: (request, done) => {
      done(user === "" ? request : { ...request, auth: { user, password } });
    },
    instance: {
      app: application,
      instanceId: `${application}:${hostName}:${port}`,
      hostName,
      ipAddr: hostName,
      port: { $: port, "@enabled": true },
      vipAddress: application,
      dataCenterInfo: {
        "@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo",
        name: "MyOwn",
      },
      leaseInfo: { renewalIntervalInSecs: 5, durationInSecs: 15 },
      metadata: {
        "punctual.task-types": taskType,
        "punctual.callback-path": callbackPath,
        "punctual.protocol": "single",
      },
    },
    eureka: {
      serviceUrls: { default: [`${registry.href.replace(/\/+$/, "")}/apps/`] },
      heartbeatInterval: 5000,
      fetchRegistry: false,
    },
  });
  eureka.start((error) => {
    if (error) {
      console.error(`cannot register at ${registry}: ${error.message}`);
      process.exit(1);
    }
    console.log(`${application} takes ${taskType} at ${hostName}:${port}${callbackPath}`);
  });
  // First out of the registry, so that no more jobs come; then the jobs under way are answered.
  const stop = () => eureka.stop(() => server.close(() => process.exit(0)));
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
});
