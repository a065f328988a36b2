"""The floor of a move: what any move must do, without Basra."""
