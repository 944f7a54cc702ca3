//! caudal-sim
