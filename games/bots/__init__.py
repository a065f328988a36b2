"""Computer players. Each sees one seat's view and nothing else."""

from .steady import choose_play

__all__ = ["choose_play"]
