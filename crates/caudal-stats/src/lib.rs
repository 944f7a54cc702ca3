//! caudal-stats
