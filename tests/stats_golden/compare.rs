use pacegate::stats::constants::{EPSILON, Rule};
use serde_json::Value;

/// One vector.
pub struct Case {
    pub id: String,
    pub kind: String,
    pub input: Value,
    pub expected: Value,
    tolerance: f64,
}

pub fn load(text: &str) -> Vec<Case> {
    let file: Value = serde_json::from_str(text).unwrap();
    assert_eq!(file["schema"], "pacegate-stats-golden/2");
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(file["n_cases"].as_u64().unwrap(), cases.len() as u64);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let case = |value: &Value| Case {
        id: text(&value["id"]),
        kind: text(&value["kind"]),
        input: value["input"].clone(),
        expected: value["expected"].clone(),
        tolerance: value["rel_tol"].as_f64().unwrap(),
    };
    cases.iter().map(case).collect()
}

impl Case {
    /// Compares one number with an expected one under the vector's tolerance.
    pub fn number(&self, what: &str, expected: &Value, found: f64) {
        let wanted =
            expected.as_f64().unwrap_or_else(|| panic!("{}: {what}: {expected} is no number", self.id));
        let near = (wanted - found).abs() <= self.tolerance * wanted.abs().max(1.0);
        assert!(near, "{}: {what}: expected {wanted}, found {found}", self.id);
    }

    /// The same where `null` means that there is none.
    pub fn optional(&self, what: &str, expected: &Value, found: Option<f64>) {
        match found {
            Some(found) => self.number(what, expected, found),
            None => assert!(expected.is_null(), "{}: {what}: expected {expected}, found none", self.id),
        }
    }

    pub fn numbers(&self, what: &str, expected: &Value, found: &[f64]) {
        let wanted = expected.as_array().unwrap();
        assert_eq!(wanted.len(), found.len(), "{}: {what}", self.id);
        for (i, (wanted, found)) in wanted.iter().zip(found).enumerate() {
            self.number(&format!("{what} {i}"), wanted, *found);
        }
    }

    /// Strings, booleans and whole numbers exactly.
    pub fn same(&self, what: &str, expected: &Value, found: impl Into<Value>) {
        assert_eq!(*expected, found.into(), "{}: {what}", self.id);
    }
}

pub fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

pub fn whole(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

pub fn constants(text: &str) {
    let file: Value = serde_json::from_str(text).unwrap();
    let mut wanted: Vec<(String, f64)> = file["constants"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(k, v)| (k.clone(), v.as_f64().unwrap()))
        .collect();
    wanted.sort_by(|a, b| a.0.cmp(&b.0));
    let Rule { jobs, rounds, .. } = Rule::STANDARD;
    let rule = Rule::STANDARD;
    let mut found = vec![
        ("a_run", rule.alpha_run),
        ("a_class", rule.alpha_class),
        ("a_field", rule.alpha_field),
        ("tau_run", jobs.run),
        ("tau_field", jobs.field),
        ("tau_class", jobs.class),
        ("tau_run_duet", rounds.run),
        ("tau_field_duet", rounds.field),
        ("tau_class_duet", rounds.class),
        ("nu", rule.prior_weight),
        ("kappa_lo", rule.kappa_lowest),
        ("kappa_hi", rule.kappa_highest),
        ("kappa_fields", rule.kappa_fields as f64),
        ("center_groups", rule.centre_groups as f64),
        ("min_rounds", rule.enough_rounds as f64),
        ("far", rule.far),
        ("median_var", rule.median_variance),
        ("eps", EPSILON),
    ];
    found.extend(super::rates::constants());
    found.sort_by(|a, b| a.0.cmp(b.0));
    let found: Vec<(String, f64)> = found.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    assert_eq!(wanted, found);
}
