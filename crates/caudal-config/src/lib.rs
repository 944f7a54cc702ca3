//! caudal-config
