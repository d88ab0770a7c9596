#!/usr/bin/env python3
"""Adds jobs to Punctual, or works on them, by the command protocol.

punctual.py add TOPIC ID DELAY_SECONDS BODY
punctual.py work TOPIC [TTR_SECONDS]
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("PUNCTUAL_URL", "http://localhost:8080") + "/api/v1/command"
APPLICATION = os.environ.get("PUNCTUAL_APPLICATION", "default")
POLL_SECONDS = 20
TRIES = 5
AFTER = {
    "delay": "It will be tried again.",
    "dead": "It is a dead letter.",
    "deleted": "It was cancelled.",
}


class Refused(Exception):
    """The scheduler said no, and why."""


def command(name, **fields):
    """Sends a command and returns the answer."""
    body = json.dumps({"command": name, "application": APPLICATION, **fields}).encode()
    request = urllib.request.Request(URL, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=POLL_SECONDS + 10) as response:
            return json.load(response)
    except urllib.error.HTTPError as e:
        if e.code >= 500:
            raise  # worth another try
        raise Refused(reason(e)) from None
    except (http.client.HTTPException, ValueError) as e:
        raise OSError(f"the answer broke off, or is none of a scheduler: {e}") from e


def reason(refusal):
    """What the scheduler says, or whoever answered in its place."""
    try:
        return json.load(refusal)["error"]
    except (http.client.HTTPException, ValueError, LookupError, TypeError):
        return str(refusal)


def report(name, **fields):
    """Sends what came of a job, again if need be: lost, the work would be done twice."""
    for wait in range(1, TRIES):
        try:
            return command(name, **fields)
        except OSError as e:
            print(f"{name} again in {wait} s: {e}", file=sys.stderr, flush=True)
            time.sleep(wait)
    return command(name, **fields)


def handle(body):
    """The work: replace it by yours. May come twice, so it must bear being repeated."""
    word, _, rest = body.partition(" ")
    if word == "sleep":
        time.sleep(float(rest))
    elif word == "fail":
        raise ValueError(rest)


def work_on(job):
    mine = {"topic": job["topic"], "id": job["id"], "token": job["token"]}
    print("begin", job["id"], job["attempt"], job["value"], flush=True)
    try:
        handle(job["value"])
    except Exception as e:
        outcome = report("nack", error=str(e), **mine)["value"]
        print(f"failed {job['id']}: {e}. {AFTER.get(outcome, outcome)}", flush=True)
    else:
        report("finish", **mine)
        print("done", job["id"], flush=True)


def work(topic, **pop):
    while True:
        try:
            # Comes back as soon as a job is due, or empty-handed after the timeout.
            job = command("pop", topic=topic, timeout=POLL_SECONDS, **pop)
            if job["id"] is not None:
                work_on(job)
        except Refused as e:
            print("refused:", e, file=sys.stderr, flush=True)
            time.sleep(1)
        except OSError as e:  # what was popped and not finished comes back after its TTR
            print(f"{URL} is not answering: {e}", file=sys.stderr, flush=True)
            time.sleep(1)


if __name__ == "__main__":
    try:
        match sys.argv[1:]:
            case ["add", topic, task_id, delay, body]:
                command("add", topic=topic, id=task_id, delay=float(delay), body=body)
            case ["work", topic]:
                work(topic)
            case ["work", topic, ttr]:
                work(topic, TTR=float(ttr))
            case _:
                sys.exit(__doc__)
    except (Refused, OSError) as e:
        sys.exit(f"not added: {e}")
    except KeyboardInterrupt:
        sys.exit(130)
