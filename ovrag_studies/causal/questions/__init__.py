"""Questions of CounterBench and CLadder, read from their text and answered by exact inference."""
