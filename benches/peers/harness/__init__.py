"""Parts of `benches/peers/run`."""
