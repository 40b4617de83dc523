//! From a connection's requests to their answers.

use std::sync::Arc;

use serde_json::json;
use tokio::net::TcpStream;

use super::ask::{Ask, read_tokenize};
use super::connection::{Connection, HungUp, NoRequest, Request};
use super::deliver::Delivery;
use super::engine::{Engine, Slot};
use super::fault::Fault;
use super::frames::Interface;
use super::metrics::exposition;
use super::record::{Ending, Record};
use super::reply::Reply;

/// Answers what comes over a connection until it ends.
pub async fn serve(engine: Arc<Engine>, socket: TcpStream) {
    let mut connection = Connection::new(socket);
    loop {
        let request = match connection.request().await {
            Ok(request) => request,
            Err(NoRequest::Closed) => return,
            Err(NoRequest::Refused(reply)) => {
                let _ = answer(&mut connection, &reply, true).await;
                return;
            }
        };
        let close = request.close;
        if respond(&engine, &mut connection, request).await.is_err() || close {
            return;
        }
    }
}

async fn respond(engine: &Engine, connection: &mut Connection, request: Request) -> Result<(), HungUp> {
    let reply = match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/chat/completions") => {
            return complete(engine, connection, request, Interface::Chat).await;
        }
        ("POST", "/v1/completions") => return complete(engine, connection, request, Interface::Text).await,
        ("GET", "/v1/models") if !authorized(engine, &request) => Reply::unauthorized(),
        ("GET", "/v1/models") => models(engine),
        ("POST", "/tokenize") => tokenized(engine, &request.body),
        ("GET", "/health") => Reply::json(String::new()),
        ("GET", "/metrics") => {
            let models = engine.models.iter();
            Reply::metrics(exposition(models.map(|model| (model.name.as_str(), &model.counters))))
        }
        ("GET", "/records") => records(engine),
        (
            _,
            "/v1/chat/completions"
            | "/v1/completions"
            | "/v1/models"
            | "/tokenize"
            | "/health"
            | "/metrics"
            | "/records",
        ) => Reply::wrong_method(),
        _ => Reply::no_path(),
    };
    answer(connection, &reply, request.close).await
}

async fn answer(connection: &mut Connection, reply: &Reply, close: bool) -> Result<(), HungUp> {
    connection.write(&[&reply.head(close), reply.body()].concat()).await
}

fn authorized(engine: &Engine, request: &Request) -> bool {
    let given = request.authorization.as_deref().and_then(|value| value.strip_prefix("Bearer "));
    engine.settings.api_key.as_deref().is_none_or(|key| given == Some(key))
}

async fn complete(
    engine: &Engine,
    connection: &mut Connection,
    request: Request,
    interface: Interface,
) -> Result<(), HungUp> {
    let index = engine.next_index();
    let fault = engine.faults.of(index);
    let mut record = Record {
        index,
        id: format!("{}-{index:016x}", interface.id_prefix()),
        request_id: request.request_id.clone(),
        status: 200,
        fault: None,
        ending: Ending::Complete,
        received_us: engine.clock.us(request.received),
        first_token_us: None,
        last_token_us: None,
        sent: Vec::new(),
        prompt_tokens: 0,
        cached_tokens: 0,
        tokens: 0,
        in_flight: 0,
    };
    let (ask, slot) = match admit(engine, &request, interface, fault) {
        Ok(admitted) => admitted,
        Err(reply) => {
            (record.status, record.ending) = (reply.status, Ending::Refused);
            record.fault = fault.filter(|fault| refusal(engine, *fault).as_ref() == Some(&reply));
            engine.log.push(record);
            return answer(connection, &reply, request.close).await;
        }
    };
    let cached = engine.cached(&ask);
    record.prompt_tokens = u32::try_from(ask.prompt.len()).unwrap_or(u32::MAX);
    record.cached_tokens = cached.unwrap_or(0);
    record.in_flight = slot.in_flight;
    let plan = engine.plan(&ask, index, record.cached_tokens, slot.in_flight);
    record.sent.reserve_exact(plan.events() as usize);
    let (slot, close) = (Some(slot), request.close);
    Delivery { engine, connection, ask, plan, record, fault, slot, cached, close }.run().await
}

/// Reads the request and takes it in, or refuses it.
fn admit<'a>(
    engine: &'a Engine,
    request: &Request,
    interface: Interface,
    fault: Option<Fault>,
) -> Result<(Ask, Slot<'a>), Reply> {
    if !authorized(engine, request) {
        return Err(Reply::unauthorized());
    }
    if let Some(reply) = fault.and_then(|fault| refusal(engine, fault)) {
        return Err(reply);
    }
    let ask = Ask::read(interface, &request.body, &engine.settings)?;
    let slot = engine.slot(ask.model).ok_or_else(|| Reply::too_many(engine.settings.retry_after_s))?;
    Ok((ask, slot))
}

/// The answer of a fault that is an error status.
fn refusal(engine: &Engine, fault: Fault) -> Option<Reply> {
    Some(match fault {
        Fault::Unauthorized => Reply::unauthorized(),
        Fault::NoPath => Reply::no_path(),
        Fault::NoModel => Reply::no_model("retired", &[]),
        Fault::TooMany => Reply::too_many(engine.settings.retry_after_s),
        Fault::ServerError => Reply::server_error(),
        _ => return None,
    })
}

fn models(engine: &Engine) -> Reply {
    let entry = |model: &super::engine::Model| {
        json!({
            "id": model.name, "object": "model", "created": engine.created, "owned_by": "pacegate",
            "root": model.name, "parent": null, "max_model_len": engine.settings.max_model_len,
        })
    };
    let data: Vec<_> = engine.models.iter().map(entry).collect();
    Reply::json(json!({"object": "list", "data": data}).to_string())
}

fn tokenized(engine: &Engine, body: &[u8]) -> Reply {
    match read_tokenize(body, &engine.settings) {
        Err(refused) => refused,
        Ok(tokens) => {
            let most = engine.settings.max_model_len;
            let body =
                json!({"count": tokens.len(), "max_model_len": most, "tokens": tokens, "token_strs": null});
            Reply::json(body.to_string())
        }
    }
}

fn records(engine: &Engine) -> Reply {
    let records = engine.log.all();
    // A record holds nothing that JSON can't.
    let lines = records.iter().filter_map(|record| serde_json::to_string(record).ok());
    Reply::json_lines(lines.map(|line| line + "\n").collect())
}
