"""Readers of the summary, the annotations and the gauges."""

import pathlib
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from html.parser import HTMLParser

from junit import markdown, package
from reader import Reader, Trouble, expect, find, run


class Metrics(Reader):
    output, folder, pattern, huge = "OpenMetrics", "openmetrics", "*.prom", "huge.prom"


def series(file):
    return [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


class Promtool(Metrics):
    name = "promtool check metrics"
    what = "parses, and its linter has nothing to say"

    def version(self):
        return re.search(r"version ([0-9.]+)", run([find("promtool"), "--version"])).group(1)

    def check(self, file):
        said = run([find("promtool"), "check", "metrics"], input=file.read_bytes())
        expect(not said.strip(), f"{file.name}: {said[:200]}")


class Client(Metrics):
    name = "prometheus-client (strict OpenMetrics)"
    what = "parses; only gauges; every series once"

    def version(self):
        return package("prometheus-client")

    def check(self, file):
        from prometheus_client.openmetrics.parser import text_string_to_metric_families

        text = file.read_text(encoding="utf-8")
        families = list(text_string_to_metric_families(text))
        expect({family.type for family in families} == {"gauge"}, f"{file.name}: not only gauges")
        found = [(s.name, tuple(sorted(s.labels.items()))) for family in families for s in family.samples]
        expect(len(found) == len(set(found)) == len(series(file)), f"{file.name}: {len(found)} series")


class NodeExporter(Metrics):
    name = "node_exporter textfile collector"
    what = "serves every series, no scrape error"

    def version(self):
        said = run([self.program(), "--version"])
        return re.search(r"version ([0-9.]+)", said).group(1)

    @staticmethod
    def program():
        found = shutil.which("node_exporter") or shutil.which("prometheus-node-exporter")
        return pathlib.Path(found) if found else find("node_exporter")

    def check(self, file):
        folder = self.work(file, "d")
        folder.mkdir(exist_ok=True)
        shutil.copy(file, folder / "pacegate.prom")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [self.program(), "--collector.disable-defaults", "--collector.textfile",
                   f"--collector.textfile.directory={folder}", f"--web.listen-address=127.0.0.1:{port}"]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            text = scrape(port)
        finally:
            server.terminate()
            server.wait(10)
        expect("node_textfile_scrape_error 0" in text, f"{file.name}: scrape error")
        served = [line for line in text.splitlines() if line.startswith("pacegate_")]
        expect(len(served) == len(series(file)), f"{file.name}: {len(served)} of {len(series(file))} series")


def scrape(port):
    for _ in range(100):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as reply:
                return reply.read().decode("utf-8")
        except OSError:
            time.sleep(0.05)
    raise Trouble("node_exporter does not answer")


class Cmark(Reader):
    output, folder, pattern, huge = "Markdown", "markdown", "*.md", "huge.md"
    name = "cmark-gfm (GitHub's own)"
    what = "only our tags; no link, image or heading but the verdict; nothing foreign outside of code; under 60,000 bytes"

    def version(self):
        return "cmarkgfm " + package("cmarkgfm")

    def check(self, file):
        text = file.read_text(encoding="utf-8")
        expect(len(text.encode()) < 60_000, f"{file.name}: {len(text.encode())} bytes")
        tags = Tags()
        tags.feed(markdown(text))
        ours = {"blockquote", "p", "strong", "code", "h3", "ul", "li", "table", "thead", "tbody", "tr", "th", "td",
                "details", "summary"}
        expect(set(tags.seen) <= ours, f"{file.name}: {sorted(set(tags.seen) - ours)}")
        expect(tags.seen.count("h3") == 1, f"{file.name}: {tags.seen.count('h3')} headings")
        expect(tags.depth == 0, f"{file.name}: tags that do not close")
        linked = re.search(r"[@#]\w|\bGH-\d|https?:|www\.|:\w+:|\bAPPROVED", tags.plain)
        expect(linked is None, f"{file.name}: {linked and linked.group()!r} outside of code")


class Tags(HTMLParser):
    """Tags of a page, and its text outside of code."""

    def __init__(self):
        super().__init__()
        self.seen, self.plain, self.depth, self.code = [], "", 0, 0

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.depth += 1
        self.code += tag == "code"

    def handle_endtag(self, tag):
        self.depth -= 1
        self.code -= tag == "code"

    def handle_data(self, data):
        self.plain += "" if self.code else data


class Runner(Reader):
    output, folder, pattern, huge = "annotations", "github", "*.txt", "huge.txt"
    name = "GitHub runner's command rules"
    what = "every line one error, warning or notice, at most ten of a kind, nothing else"
    # Its command names, from ActionCommandManager.cs of actions/runner; a line ends at LF, CR or both.
    known = ("error warning notice debug group endgroup add-mask add-path set-env set-output save-state stop-commands "
             "echo add-matcher remove-matcher internal-set-repo-path").split()

    def version(self):
        return "rules of 258d6c8"

    def files(self):
        return [file for file in super().files() if file.exists()]

    def check(self, file):
        taken = []
        lines = re.split(r"\r\n|\r|\n", file.read_bytes().decode("utf-8"))
        for line in filter(None, lines):
            new = re.match(r"\s*::([^ :]+)[^:]*::", line)
            old = re.search(r"##\[([^\] ]+)", line)
            names = [match.group(1).lower() for match in (new, old) if match]
            expect(len(names) == 1 and names[0] in ("error", "warning", "notice"), f"{file.name}: {line[:80]!r}")
            taken += names
        for name in set(taken):
            expect(taken.count(name) <= 10, f"{file.name}: {taken.count(name)} of {name}")


def readers(options):
    return [kind(options) for kind in (Promtool, Client, NodeExporter, Cmark, Runner)]
