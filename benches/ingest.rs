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
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

type Done<T> = Result<T, Box<dyn Error>>;

const BYTES: usize = 100_000_000;
const RUNS: usize = 9;
const SOURCE: &str = "tests/data/reports/guidellm/0.8.1/clean-c8.json";

/// A type of numbers, and what hands all of them to nobody.
macro_rules! numbers {
    ($name:ident: $($key:ident)* $(, $part:ident: $of:ty)?) => {
        #[derive(Deserialize)]
        struct $name {
            $($key: Option<f64>,)*
            $($part: $of,)?
        }
        impl $name {
            fn used(&self) {
                $(black_box(self.$key);)*
                $(self.$part.used();)?
            }
        }
    };
}

#[derive(Deserialize)]
struct Report<T> {
    benchmarks: Vec<Benchmark<T>>,
}

#[derive(Deserialize)]
struct Benchmark<T> {
    requests: Requests<T>,
}

#[derive(Deserialize)]
struct Requests<T> {
    successful: Vec<T>,
}

// What pacegate takes of a request; everything else is skipped, as it is there.
numbers!(Taken: request_start_time request_latency time_to_first_token_ms inter_token_latency_ms);

// Every number of a request that says something of its time or its tokens.
numbers!(All: request_start_time request_end_time request_latency request_dispatch_delay request_scheduled_latency
    time_to_first_token_ms time_to_last_round_trip_ms avg_round_trip_time_ms time_per_output_token_ms
    inter_token_latency_ms tokens_per_second output_tokens_per_second time_to_first_output_token_ms
    output_tokens_per_iteration prompt_tokens cached_tokens output_tokens total_tokens, info: Info);
numbers!(Timings: targeted_start queued dequeued scheduled_at resolve_start request_start first_request_iteration
    first_token_iteration first_output_token_iteration last_token_iteration last_request_iteration request_iterations
    token_iterations token_received_sum token_received_count request_end resolve_end finalized);

#[derive(Deserialize)]
struct Info {
    timings: Timings,
}

impl Info {
    fn used(&self) {
        self.timings.used();
    }
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
            "taken" => bare(Path::new(file), Taken::used)?,
            "all" => bare(Path::new(file), All::used)?,
            _ => ours(Path::new(file))?,
        }
        println!("{} {} {}", start.elapsed().as_secs_f64(), cpu_seconds()?, peak_mb()?);
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let (file, requests) = large(folder.path())?;
    let size = fs::metadata(&file)?.len() as f64 / 1e6;
    println!("{size:.1} MB, {requests} requests\n");
    let passes = ["taken", "all", "ours", "python"];
    let mut costs = [const { Vec::new() }; 4];
    for _ in 0..RUNS {
        for (pass, costs) in passes.iter().zip(&mut costs) {
            costs.push(measured(pass, &file)?);
        }
    }
    let names = [
        "bare typed pass of serde_json, the 4 numbers of a request that pacegate takes",
        "bare typed pass of serde_json, the 36 numbers of a request",
        "pacegate reads it, samples, digest and all",
        "Python `json.load`",
    ];
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
    // Each of them as often as every other, so that the file's own percentiles stay true.
    let count = BYTES / one / original.len() * original.len();
    let mut requests: Vec<Value> = original.iter().cycle().take(count).cloned().collect();
    // In no order, as requests come: that each 40th is the same is no pattern of time.
    for (at, request) in requests.iter_mut().enumerate() {
        request["request_start_time"] = json!(1.8e9 + (at as u64 * 2_654_435_761 % 1_000_003) as f64 / 1e3);
    }
    benchmark["metrics"]["request_totals"] =
        json!({"successful": count, "errored": 0, "incomplete": 0, "total": count});
    benchmark["requests"]["successful"] = Value::Array(requests);
    let file = folder.join("benchmarks.json");
    fs::write(&file, serde_json::to_vec(&report)?)?;
    Ok((file, count))
}

fn bare<T: DeserializeOwned>(file: &Path, used: fn(&T)) -> Done<()> {
    let bytes = fs::read(file)?;
    let report: Report<T> = serde_json::from_slice(&bytes)?;
    report.benchmarks.iter().flat_map(|benchmark| &benchmark.requests.successful).for_each(used);
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
