//! The judge, held against independent vectors and against the failures that made people switch other gates off.

mod build;
mod golden;
