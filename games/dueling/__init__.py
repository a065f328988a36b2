"""Computer players against each other, to measure how well they play.

No page leads here: the players of a duel hold whole states, and one of them looks at every card.

==============  =================================================================================
``players``     who can play, by name
``cheat``       the player that sees all cards
``matches``     one pack played twice, with the seats changed; lines in a file
``report``      what the lines add up to
==============  =================================================================================
"""
