//! caudal-report
