// Placeholder until the first files land.
