//! What the load generator costs and how far its times are from the truth.
//!
//! `cargo bench --bench client`: 32 streams at 10 ms and 256 at 50 ms. `cargo bench --bench client -- many`: 1,024
//! streams for a minute. For CPU and memory the server is another process; a bare hyper read loop over the same streams
//! in the same run is the measure. Times are held against a server in this process, which shares its clock. Medians of
//! the runs; believe ratios, not seconds.

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::future::poll_fn;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper::rt::ReadBufCursor;
use pacegate::model::profile::Timeouts;
use pacegate::server::{self, Latency, Settings};
use pacegate::source::load::block::{self, Block};
use pacegate::source::load::clock::Clock;
use pacegate::source::load::endpoint::Endpoint;
use pacegate::source::load::request::Call;
use pacegate::source::load::schedule::Schedule;
use pacegate::source::load::timeline::Timeline;
use pacegate::source::load::url::BaseUrl;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::{JoinSet, LocalSet};

type Done<T> = Result<T, Box<dyn Error>>;

const TOKENS: usize = 128;
const RUNS: usize = 7;

/// Streams at once, gap between their tokens in ms, waves of streams.
const CASES: [(usize, u64, usize); 2] = [(32, 10, 4), (256, 50, 2)];
/// The same for a minute: 80 ms and 127 gaps are 6.4 s.
const MANY: (usize, u64, usize) = (1024, 50, 9);

fn main() -> Done<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).filter(|a| *a != "--bench").collect();
    match words.as_slice() {
        ["serve", gap] => {
            let stop = AtomicBool::new(false);
            server::run_blocking(settings(gap.parse()?), &stop, |address| {
                let _gone = writeln!(std::io::stdout(), "{address}");
            })?;
            Ok(())
        }
        ["many"] => many(),
        ["ours", address, streams, waves] => {
            load(address.parse()?, streams.parse()?, waves.parse()?).map(|_| ())
        }
        _ => CASES.into_iter().try_for_each(case),
    }
}

fn case((streams, gap, waves): (usize, u64, usize)) -> Done<()> {
    let chunks = (streams * waves * TOKENS) as f64;
    let (mut bare, mut ours, mut ratios, mut late) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut out = std::io::stdout();
    for run in 1..=RUNS {
        let server = Serving::start(gap)?;
        let mut cost = [0.0; 2];
        // Each goes first every second time, so that drift of the machine hits both alike.
        for which in if run % 2 == 0 { [0, 1] } else { [1, 0] } {
            let used = match which {
                0 => cpu_of(|| bare_loop(server.address, streams, waves))?,
                _ => cpu_of(|| load(server.address, streams, waves).map(|_| ()))?,
            };
            cost[which] = used / chunks * 1000.0;
        }
        drop(server);
        let errors = first_token_errors(streams, gap, waves)?;
        writeln!(
            out,
            "  run {run}: bare {:.4}, ours {:.4}, ratio {:.2}; late p50 {:.3} p99 {:.3} max {:.3} ms",
            cost[0],
            cost[1],
            cost[1] / cost[0],
            errors[0],
            errors[1],
            errors[2]
        )?;
        bare.push(cost[0]);
        ours.push(cost[1]);
        ratios.push(cost[1] / cost[0]);
        late.push(errors);
    }
    writeln!(
        out,
        "{streams} streams, {gap} ms gaps: {:.4} CPU s a 1,000 chunks, bare hyper {:.4}, ratio {:.2}; first token late \
         by p50 {:.3} ms, p99 {:.3} ms",
        median(ours),
        median(bare),
        median(ratios),
        median(late.iter().map(|errors| errors[0]).collect()),
        median(late.iter().map(|errors| errors[1]).collect()),
    )?;
    Ok(())
}

fn many() -> Done<()> {
    let (streams, gap, waves) = MANY;
    let server = Serving::start(gap)?;
    let (mut before, mut peak) = (0, 0);
    let cpu = cpu_of(|| {
        before = memory("VmRSS")?;
        load(server.address, streams, waves)?;
        peak = memory("VmHWM")?;
        Ok(())
    })?;
    drop(server);
    let chunks = (streams * waves * TOKENS) as f64;
    let errors = first_token_errors(streams, gap, waves)?;
    writeln!(
        std::io::stdout(),
        "{streams} streams, {gap} ms gaps, {waves} waves: none failed; {:.4} CPU s a 1,000 chunks; {} KB a stream ({before} \
         KB before, {peak} KB at most); first token late by p50 {:.3} ms, p99 {:.3} ms, max {:.3} ms",
        cpu / chunks * 1000.0,
        peak.saturating_sub(before) / streams as u64,
        errors[0],
        errors[1],
        errors[2]
    )?;
    Ok(())
}

/// A line of this process's memory in KB, as Linux tells it.
fn memory(line: &str) -> Done<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|l| l.strip_prefix(line)?.strip_prefix(':')).ok_or("no such line")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

fn settings(gap_ms: u64) -> Settings {
    let (first_token, gap) = (Duration::from_millis(80), Duration::from_millis(gap_ms));
    Settings { latency: Latency::Fixed { first_token, gap }, ..Settings::default() }
}

struct Serving {
    child: Child,
    address: SocketAddr,
}

impl Serving {
    fn start(gap: u64) -> Done<Serving> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["serve", &gap.to_string()])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        Ok(Serving { child, address: line.trim().parse()? })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// CPU seconds of this process while something runs.
fn cpu_of(work: impl FnOnce() -> Done<()>) -> Done<f64> {
    let mut system = sysinfo::System::new()?;
    let pid = sysinfo::get_current_pid()?;
    let mut used = || {
        let what = sysinfo::ProcessRefreshKind::nothing().with_cpu();
        system.refresh_processes_specifics(sysinfo::ProcessesToUpdate::Some(&[pid]), false, what);
        system.process(pid).map_or(0, sysinfo::Process::accumulated_cpu_time)
    };
    let before = used();
    work()?;
    Ok((used() - before) as f64 / 1000.0)
}

fn body() -> Bytes {
    Bytes::from(format!(
        r#"{{"model":"embedded","messages":[{{"role":"user","content":"hi"}}],"max_tokens":{TOKENS},"stream":true,"stream_options":{{"include_usage":true}},"ignore_eos":true}}"#
    ))
}

/// What the product keeps of an answer until the end of a group, and how the server calls it.
struct Answered {
    sent: u64,
    on_open_connection: bool,
    timeline: Timeline,
    id: String,
}

/// The product's own way, everything read afterwards included.
fn load(address: SocketAddr, streams: usize, waves: usize) -> Done<(Clock, Vec<Answered>)> {
    let url = BaseUrl::parse(&format!("http://{address}"))?;
    let call = Call { path: "/v1/chat/completions".to_owned(), body: Some(body().to_vec()), stream: true };
    let clock = Clock::start();
    let block = Block {
        endpoint: Arc::new(Endpoint::resolve(url, None)?),
        calls: vec![call; streams * waves].into(),
        schedule: Schedule::Closed(streams as u32),
        timeouts: Timeouts::default(),
        clock,
    };
    let mut read = Vec::new();
    block::run(&block, &AtomicBool::new(false), |_, record| {
        let mut timeline = Timeline::read(&record);
        timeline.text = String::new();
        let head = String::from_utf8_lossy(&record.raw[..record.raw.len().min(600)]).into_owned();
        let id =
            head.split_once("\"id\":\"").map_or("", |(_, rest)| rest).split('"').next().unwrap_or_default();
        read.push(Answered {
            sent: record.sent.unwrap_or_default(),
            on_open_connection: record.opened.is_none(),
            timeline,
            id: id.to_owned(),
        });
    })?;
    if let Some(failure) = read.iter().find_map(|answered| answered.timeline.failure.as_ref()) {
        return Err(format!("a stream failed: {failure:?}").into());
    }
    Ok((clock, read))
}

/// p50, p99 and the most, in ms, of how much later than the server wrote it the client saw each first token. On open
/// connections alone: what opening one costs is no part of any latency.
fn first_token_errors(streams: usize, gap: u64, waves: usize) -> Done<[f64; 3]> {
    let server = server::start(settings(gap))?;
    let (clock, read) = load(server.addr(), streams, waves)?;
    let offset = clock.moment(0).duration_since(server.epoch()).as_nanos() as f64;
    let truth: HashMap<String, Option<u64>> =
        server.records().into_iter().map(|record| (record.id, record.first_token_us)).collect();
    let mut errors = Vec::new();
    for answered in read.iter().filter(|answered| answered.on_open_connection) {
        let written = truth.get(&answered.id).copied().flatten();
        if let (Some(written), Some(seen)) = (written, answered.timeline.first_token) {
            errors.push((offset + answered.sent as f64 + seen as f64) / 1e6 - written as f64 / 1e3);
        }
    }
    if errors.len() != streams * (waves - 1) {
        return Err(
            format!("{} streams could be compared, not {}", errors.len(), streams * (waves - 1)).into()
        );
    }
    errors.sort_by(f64::total_cmp);
    let at = |share: f64| errors[((errors.len() as f64 * share) as usize).min(errors.len() - 1)];
    Ok([at(0.5), at(0.99), at(1.0)])
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// hyper alone: frames are read and dropped.
fn bare_loop(address: SocketAddr, streams: usize, waves: usize) -> Done<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = LocalSet::new();
    runtime.block_on(local.run_until(async {
        let mut tasks = JoinSet::new();
        for _ in 0..streams {
            tasks.spawn_local(
                async move { bare_stream(address, waves).await.map_err(|error| error.to_string()) },
            );
        }
        while let Some(done) = tasks.join_next().await {
            done??;
        }
        Ok(())
    }))
}

async fn bare_stream(address: SocketAddr, waves: usize) -> Done<()> {
    let tcp = TcpStream::connect(address).await?;
    tcp.set_nodelay(true)?;
    let (mut sender, driver) = http1::handshake(Bare { tcp }).await?;
    let mut driver = Box::pin(driver);
    for _ in 0..waves {
        let request = hyper::Request::post("/v1/chat/completions")
            .header("host", address.to_string())
            .header("content-type", "application/json")
            .body(Full::new(body()))?;
        let reply = async {
            let mut body = sender.send_request(request).await?.into_body();
            while let Some(frame) = body.frame().await {
                frame?;
            }
            Ok::<(), hyper::Error>(())
        };
        let mut reply = pin!(reply);
        poll_fn(|cx| {
            let _closed = driver.as_mut().poll(cx);
            reply.as_mut().poll(cx)
        })
        .await?;
    }
    Ok(())
}

struct Bare {
    tcp: TcpStream,
}

thread_local! {
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; 16384].into());
}

impl hyper::rt::Read for Bare {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        SCRATCH.with_borrow_mut(|scratch| {
            let room = buf.remaining().min(scratch.len());
            let mut into = ReadBuf::new(&mut scratch[..room]);
            ready!(Pin::new(&mut self.get_mut().tcp).poll_read(cx, &mut into))?;
            buf.put_slice(into.filled());
            Poll::Ready(Ok(()))
        })
    }
}

impl hyper::rt::Write for Bare {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.get_mut().tcp).poll_write(cx, buf)
    }
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_flush(cx)
    }
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_shutdown(cx)
    }
}
