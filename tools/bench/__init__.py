"""`make bench`: what the engine, the pages, a move and whole games cost (docs/performance.md)."""
