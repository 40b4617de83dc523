//! Blocks of a Markdown page that the program writes, between `<!-- calibrate: NAME -->` and `<!-- end -->`.

/// The page with one block replaced.
pub fn replaced(page: &str, name: &str, block: &str) -> anyhow::Result<String> {
    let (before, _, after) = parts(page, name)?;
    Ok(format!("{before}{}\n{block}{after}", opening(name)))
}

fn opening(name: &str) -> String {
    format!("<!-- calibrate: {name} -->")
}

/// Before a block, the block, and what follows.
pub fn parts<'a>(page: &'a str, name: &str) -> anyhow::Result<(&'a str, &'a str, &'a str)> {
    let opening = opening(name) + "\n";
    let missing = || anyhow::anyhow!("the page has no block `<!-- calibrate: {name} -->` … `<!-- end -->`");
    let (before, rest) = page.split_once(&opening).ok_or_else(missing)?;
    let end = rest.find("<!-- end -->").ok_or_else(missing)?;
    Ok((before, &rest[..end], &rest[end..]))
}
