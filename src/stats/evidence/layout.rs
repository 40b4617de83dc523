use super::super::check::median;
use super::super::constants::Rule;
use super::field::{Class, Field};
use std::collections::BTreeSet;

/// Which field belongs to which class, and how many groups a class spans.
pub(super) struct Layout {
    /// Classes that occur, in their fixed order.
    pub classes: Vec<Class>,
    /// Per field its index in `classes`.
    pub class_of: Vec<usize>,
    /// Per class its fields.
    pub members: Vec<Vec<usize>>,
    /// Per class its gated fields.
    pub gated_members: Vec<Vec<usize>>,
    /// All gated fields.
    pub gated: Vec<usize>,
    /// Per class the number of groups it spans.
    pub groups_of: Vec<usize>,
    /// Number of groups of all fields.
    pub groups: usize,
    /// Per class whether its own median is the centre for its fields.
    pub own_centre: Vec<bool>,
}

impl Layout {
    pub fn new(rule: &Rule, fields: &[Field]) -> Self {
        let classes: Vec<Class> =
            fields.iter().map(|f| f.class).collect::<BTreeSet<_>>().into_iter().collect();
        let mut class_of = vec![0; fields.len()];
        let mut members = vec![Vec::new(); classes.len()];
        for (m, class) in classes.iter().enumerate() {
            for (f, _) in fields.iter().enumerate().filter(|(_, field)| field.class == *class) {
                class_of[f] = m;
                members[m].push(f);
            }
        }
        let gated_of = |all: &[usize]| all.iter().copied().filter(|f| fields[*f].gated).collect::<Vec<_>>();
        let groups_of: Vec<usize> = members
            .iter()
            .map(|all| all.iter().map(|f| fields[*f].group).collect::<BTreeSet<_>>().len())
            .collect();
        let everything: Vec<usize> = (0..fields.len()).collect();
        Self {
            gated_members: members.iter().map(|all| gated_of(all)).collect(),
            gated: gated_of(&everything),
            own_centre: groups_of.iter().map(|groups| *groups >= rule.centre_groups).collect(),
            groups: fields.iter().map(|field| field.group).collect::<BTreeSet<_>>().len(),
            classes,
            class_of,
            members,
            groups_of,
        }
    }

    /// Classes that may be the reference: TTFT and TPOT (ITL where there is no TPOT), else all.
    pub fn reference_pool(&self) -> Vec<usize> {
        let has_tpot = self.classes.contains(&Class::Tpot);
        let may = |class: &Class| match class {
            Class::Ttft | Class::Tpot => true,
            Class::Itl => !has_tpot,
            Class::E2e | Class::Throughput => false,
        };
        let pool: Vec<usize> = (0..self.classes.len()).filter(|m| may(&self.classes[*m])).collect();
        if pool.is_empty() { (0..self.classes.len()).collect() } else { pool }
    }
}

/// Median of some entries of a row.
pub(super) fn median_of(row: &[f64], fields: &[usize]) -> f64 {
    median(&mut fields.iter().map(|f| row[*f]).collect::<Vec<_>>())
}
