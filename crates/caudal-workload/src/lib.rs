//! caudal-workload
