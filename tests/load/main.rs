//! The load generator against what real servers sent, and against sockets that misbehave.

#[cfg(test)]
mod captures;
#[cfg(test)]
mod counts;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod measured;
#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod server;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod truth;
