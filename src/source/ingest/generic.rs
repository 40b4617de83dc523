//! Any other tool's JSON or CSV, by a mapping that the user writes: where each number stands, and what it is.

use crate::model::mapping::Counted;
use crate::model::report::TokenSource;
use crate::model::{Fact, Finite, Mapping};

use super::content::Content;
use super::draft::Draft;
use super::error::{IngestError, Place};
use super::outline::{Outline, Shape};
use super::pointer::{self, Spot};
use super::reading::{Reading, Run};
use super::tree::Tree;
use super::{Format, parse};

/// Reads a file by a mapping.
///
/// # Errors
/// Neither JSON nor CSV, a place that is not there or holds no number, groups that nothing tells apart.
pub fn read(content: &Content, outline: &Outline, mapping: &Mapping) -> Result<Reading, IngestError> {
    let mut reading = Reading::new(Format::Generic);
    let text = outline.shape == Shape::Text;
    let tree = if text { pointer::table(content)? } else { parse::json(content, Format::Generic)? };
    let whole = Spot::whole(content, text, &tree);
    let spots = if text { whole.elements() } else { groups(whole, mapping)? };
    if spots.len() > 1 && !tells_apart(mapping) {
        return Err(IngestError::WrongValue {
            place: Place::file(&content.name),
            what: format!(
                "holds {} groups, and nothing in [generic.{}] tells them apart; map concurrency, rate, strategy, traffic or prompt_tokens",
                spots.len(),
                mapping.tool
            ),
            format: Format::Generic,
        });
    }
    let mut drafts = Vec::new();
    for spot in spots {
        let draft = group(&spot, mapping)?;
        if let Some(model) = draft.workload.get(&Fact::Model) {
            reading.subject.model.get_or_insert_with(|| model.clone());
        }
        if let Some(version) = draft.workload.get(&Fact::ToolVersion) {
            reading.version.get_or_insert_with(|| version.clone());
        }
        drafts.push((spot.place().key, draft));
    }
    reading.run(content, Run::default(), drafts)?;
    Ok(reading)
}

/// The list that a mapping names, or the file as the one group that it is.
fn groups<'a>(whole: Spot<'a>, mapping: &'a Mapping) -> Result<Vec<Spot<'a>>, IngestError> {
    let list = match mapping.each.as_deref() {
        None => return Ok(vec![whole]),
        Some("/") => whole,
        Some(each) => whole.to(each, "the list of groups")?,
    };
    match list.tree {
        Tree::List(_) => Ok(list.elements()),
        other => Err(list.wrong(format!("found {}, expected the list of groups", other.kind()))),
    }
}

fn tells_apart(mapping: &Mapping) -> bool {
    let parts = [Fact::Concurrency, Fact::Rate, Fact::Traffic, Fact::PromptTokens];
    mapping.strategy.is_some() || parts.iter().any(|fact| mapping.facts.contains_key(fact))
}

fn group(spot: &Spot<'_>, mapping: &Mapping) -> Result<Draft, IngestError> {
    let mut draft = Draft::default();
    counts(&mut draft, spot, mapping)?;
    facts(&mut draft, spot, mapping)?;
    // Where nothing succeeded, there is nothing that would have taken time.
    let none_succeeded = draft.requests.succeeded == Some(0);
    for field in &mapping.fields {
        draft.define(&field.metric, &field.definition, mapping.percentiles);
        let what = crate::model::field::local(&field.metric, field.statistic);
        let found = match spot.to(&field.at, &what) {
            Ok(found) => found,
            Err(_) if none_succeeded => continue,
            Err(error) => return Err(error),
        };
        let number = found.number(none_succeeded)?;
        draft.scaled(&field.metric, field.statistic, number, field.factor.get());
    }
    Ok(draft)
}

fn counts(draft: &mut Draft, spot: &Spot<'_>, mapping: &Mapping) -> Result<(), IngestError> {
    let mut count = |counted: Counted, what: &str| -> Result<Option<u64>, IngestError> {
        let Some(at) = mapping.counts.get(&counted) else { return Ok(None) };
        let found = spot.to(at, what)?;
        Ok(draft.counted(at, Some(found.number(false)?)))
    };
    let sent = count(Counted::Sent, "the requests sent")?;
    let succeeded = count(Counted::Succeeded, "the successful requests")?;
    let failed = count(Counted::Failed, "the failed requests")?;
    let input = count(Counted::InputTokens, "the prompt tokens")?;
    let output = count(Counted::OutputTokens, "the output tokens")?;
    let sent = sent.or_else(|| succeeded.zip(failed).map(|(succeeded, failed)| draft.sum(succeeded, failed)));
    let succeeded = draft.agreed(sent, succeeded, failed);
    draft.outcomes(sent, succeeded);
    draft.fact(Fact::Requests, sent);
    draft.tokens(input, output, TokenSource::Unknown);
    Ok(())
}

fn facts(draft: &mut Draft, spot: &Spot<'_>, mapping: &Mapping) -> Result<(), IngestError> {
    draft.fact(Fact::Tool, Some(format!("generic, {}", mapping.tool)));
    if let Some(at) = &mapping.strategy {
        draft.dimensions.strategy = Some(spot.to(at, "the strategy")?.name()?);
    }
    for (fact, at) in &mapping.facts {
        let found = spot.to(at, fact.name())?;
        match fact {
            Fact::Concurrency => draft.concurrency(at, Some(found.number(false)?)),
            Fact::Rate => {
                let rate = found.number(false)?.finite().filter(|rate| *rate > 0.0);
                let rate = rate.and_then(|rate| Finite::new(rate).ok());
                let rate = rate.ok_or_else(|| {
                    found.wrong(format!("found {}, expected a rate above 0", found.tree.kind()))
                })?;
                draft.dimensions.rate = Some(rate);
                draft.fact(Fact::Rate, Some(rate));
            }
            Fact::PromptTokens => {
                let tokens = draft.counted(at, Some(found.number(false)?));
                draft.dimensions.prompt_tokens = tokens.and_then(|tokens| u32::try_from(tokens).ok());
                if tokens.is_some() && draft.dimensions.prompt_tokens.is_none() {
                    draft.contradicts(&format!("{at} is more tokens than any prompt has"));
                }
                draft.fact(Fact::PromptTokens, tokens);
            }
            _ => {
                if *fact == Fact::Traffic {
                    draft.dimensions.traffic = Some(found.name()?);
                }
                draft.fact(*fact, Some(found.text()?));
            }
        }
    }
    Ok(())
}
