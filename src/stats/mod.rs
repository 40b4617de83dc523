//! Pure maths on slices. No words of ours, no I/O.
