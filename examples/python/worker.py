#!/usr/bin/env python3
"""Registers at the scheduler, and runs what that POSTs here: worker.py APPLICATION TASK_TYPE"""

import atexit
import http.server
import json
import os
import signal
import sys
import threading
import time
import urllib.request

ADDRESS = os.environ.get("WORKER_ADDRESS", "127.0.0.1:9000")
SCHEDULER = os.environ.get("PUNCTUAL_URL", "http://localhost:8080")
ME = f"{SCHEDULER}/api/v1/workers/{sys.argv[1]}/{ADDRESS}"
WORKER = {"url": f"http://{ADDRESS}/callback", "taskTypes": [sys.argv[2]], "ttl": "30s"}
HEADERS = {"Content-Type": "application/json"}
if "PUNCTUAL_TOKEN" in os.environ:
    HEADERS["Authorization"] = "Bearer " + os.environ["PUNCTUAL_TOKEN"]


def call(method, body=None):
    urllib.request.urlopen(urllib.request.Request(ME, body, HEADERS, method=method), timeout=5)


class Callback(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        params = self.rfile.read(int(self.headers["Content-Length"])).decode()
        print("run", self.headers["ce-id"], params, flush=True)  # the work: it may come twice
        self.do_OPTIONS()

    def do_OPTIONS(self):  # 2xx is done, 422 never again, all else another attempt
        self.send_response(204)
        self.end_headers()


server = http.server.ThreadingHTTPServer(("", int(ADDRESS.split(":")[1])), Callback)
threading.Thread(target=server.serve_forever, daemon=True).start()
atexit.register(call, "DELETE")
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
while True:
    try:
        call("PUT", json.dumps(WORKER).encode())
    except OSError as e:
        print("not registered, trying again:", e, file=sys.stderr, flush=True)
    time.sleep(10)
