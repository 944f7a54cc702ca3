//! Empty: its manifest names the crates that libraries.py takes sources from.
