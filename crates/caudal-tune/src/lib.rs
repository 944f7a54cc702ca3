//! caudal-tune
