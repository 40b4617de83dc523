//! What reading a large report costs, beside a bare typed pass of serde_json over the same bytes and Python's `json.load`.
//!
//! `cargo bench --bench ingest`. The report is a real one of guidellm whose requests are repeated to 100 MB. Each pass runs in
//! a process of its own, one after another in turns, so that peak memory is its own and other work on the machine meets all
//! of them alike. Medians; believe ratios, not seconds.

#![expect(clippy::print_stdout, reason = "a table is what it is for")]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use pacegate::model::Metric;
use pacegate::source::ingest::{Input, Options, read};
use serde::Deserialize;
use serde_json::{Value, json};

type Done<T> = Result<T, Box<dyn Error>>;

const BYTES: usize = 100_000_000;
const RUNS: usize = 7;
const SOURCE: &str = "tests/data/reports/guidellm/0.8.1/clean-c8.json";

/// The numbers of a request that pacegate takes; everything else is skipped, as it is there.
#[derive(Deserialize)]
struct Bare {
    benchmarks: Vec<BareBenchmark>,
}

#[derive(Deserialize)]
struct BareBenchmark {
    requests: BareRequests,
}

#[derive(Deserialize)]
struct BareRequests {
    successful: Vec<BareRequest>,
}

#[derive(Deserialize)]
struct BareRequest {
    request_start_time: f64,
    request_latency: f64,
    time_to_first_token_ms: f64,
    inter_token_latency_ms: f64,
}

/// Seconds, CPU seconds and peak memory of one pass.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    cpu: f64,
    peak_mb: f64,
}

fn main() -> Done<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, pass, file] = arguments.as_slice() {
        let start = Instant::now();
        match pass.as_str() {
            "bare" => bare(Path::new(file))?,
            _ => ours(Path::new(file))?,
        }
        println!("{} {} {}", start.elapsed().as_secs_f64(), cpu_seconds()?, peak_mb()?);
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let (file, requests) = large(folder.path())?;
    let size = fs::metadata(&file)?.len() as f64 / 1e6;
    println!("{size:.1} MB, {requests} requests\n");
    let passes = ["bare", "ours", "python"];
    let mut costs = [const { Vec::new() }; 3];
    for _ in 0..RUNS {
        for (pass, costs) in passes.iter().zip(&mut costs) {
            costs.push(measured(pass, &file)?);
        }
    }
    let names = ["bare typed serde_json pass", "pacegate reads it, samples and all", "Python `json.load`"];
    println!(
        "| pass | runs | seconds | MB/s | CPU s | peak memory |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    );
    for (name, costs) in names.iter().zip(&costs) {
        let of = |number: fn(&Cost) -> f64| median(costs.iter().map(number).collect());
        let seconds = of(|cost| cost.seconds);
        println!(
            "| {name} | {RUNS} | {seconds:.3} | {:.0} | {:.3} | {:.0} MB |",
            size / seconds,
            of(|cost| cost.cpu),
            of(|cost| cost.peak_mb)
        );
    }
    Ok(())
}

/// The report with its requests repeated until it is large enough.
fn large(folder: &Path) -> Done<(PathBuf, usize)> {
    let mut report: Value = serde_json::from_str(&fs::read_to_string(SOURCE)?)?;
    let benchmark = &mut report["benchmarks"][0];
    let original = benchmark["requests"]["successful"].as_array().ok_or("no requests")?.clone();
    let one = serde_json::to_string(&original)?.len() / original.len();
    let requests: Vec<Value> = original.iter().cycle().take(BYTES / one).cloned().collect();
    let count = requests.len();
    benchmark["metrics"]["request_totals"] =
        json!({"successful": count, "errored": 0, "incomplete": 0, "total": count});
    benchmark["requests"]["successful"] = Value::Array(requests);
    let file = folder.join("benchmarks.json");
    fs::write(&file, serde_json::to_vec(&report)?)?;
    Ok((file, count))
}

fn bare(file: &Path) -> Done<()> {
    let bytes = fs::read(file)?;
    let report: Bare = serde_json::from_slice(&bytes)?;
    for request in report.benchmarks.iter().flat_map(|benchmark| &benchmark.requests.successful) {
        black_box((request.request_start_time, request.request_latency));
        black_box((request.time_to_first_token_ms, request.inter_token_latency_ms));
    }
    Ok(())
}

fn ours(file: &Path) -> Done<()> {
    let report = read(&[Input { strategy: None, path: file.to_owned() }], &Options::default())?;
    let group = &report.jobs[0].rounds[0].groups[0];
    assert!(group.metrics[&Metric::TTFT].samples.is_some(), "the requests are not in it");
    black_box(report);
    Ok(())
}

fn measured(pass: &str, file: &Path) -> Done<Cost> {
    let mut command = match pass {
        "python" => {
            let mut python = Command::new("python3");
            python.args(["-c", PYTHON]);
            python
        }
        _ => {
            let mut own = Command::new(std::env::current_exe()?);
            own.arg(pass);
            own
        }
    };
    let output = command.arg(file).output()?;
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<f64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    match numbers.as_slice() {
        [seconds, cpu, peak_mb] => Ok(Cost { seconds: *seconds, cpu: *cpu, peak_mb: *peak_mb }),
        _ => Err(format!("{pass}: {text}{}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

const PYTHON: &str = "
import json, resource, sys, time
start = time.perf_counter()
report = json.load(open(sys.argv[1]))
seconds = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_SELF)
print(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6)
";

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// User and system time of this process, in the kernel's ticks of 10 ms.
fn cpu_seconds() -> Done<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit_once(") ").ok_or("no name in stat")?.1;
    let ticks = after_name.split(' ').skip(11).take(2).map(str::parse::<f64>);
    Ok(ticks.collect::<Result<Vec<f64>, _>>()?.iter().sum::<f64>() / 100.0)
}

fn peak_mb() -> Done<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? * 1024.0 / 1e6)
}
