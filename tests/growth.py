"""How much longer four times as much takes."""

import time
from collections.abc import Callable

LINEAR = 8.0  # four times as much takes four times as long, sixteen where time grows with the square


def growth(action: Callable[[str], object], text_of: Callable[[int], str], size: int) -> float:
    """Return the processor time of `action` on `text_of(4 * size)` over that on `text_of(size)`, the best of rounds.

    Rounds are added while the two are far apart, so that other work on the machine fails no test.
    """
    texts = [text_of(size), text_of(4 * size)]
    best = [float("inf"), float("inf")]
    for _ in range(6):
        for place, text in enumerate(texts):
            start = time.process_time()
            action(text)
            best[place] = min(best[place], time.process_time() - start)
        if best[1] < LINEAR * best[0]:
            break
    return best[1] / max(best[0], 1e-6)
