"""Remember ids in a bit for each: 28 million formulas take 3.5 megabytes."""

import numpy as np
import numpy.typing as npt

LARGEST = 2**32  # half a gigabyte of bits; no dump comes near it
WORD = 8


class SeenIds:
    """The whole numbers added so far. Memory grows with the largest one, not with their number."""

    def __init__(self) -> None:
        self._bits = bytearray()
        self._huge: set[int] = set()

    def add(self, number: int) -> bool:
        """Add a number, and return whether it is new."""
        if not 0 <= number < LARGEST:
            is_new = number not in self._huge
            self._huge.add(number)
            return is_new
        place, bit = number // WORD, 1 << (number % WORD)
        self._grow(place)
        is_new = not self._bits[place] & bit
        self._bits[place] |= bit
        return is_new

    def __contains__(self, number: int) -> bool:
        """Return whether a number was added."""
        if not 0 <= number < LARGEST:
            return number in self._huge
        place = number // WORD
        return place < len(self._bits) and bool(self._bits[place] & 1 << (number % WORD))

    def add_all(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Add numbers, and return whether each is new; of equal ones, only the first is."""
        if not len(numbers):
            return np.zeros(0, np.bool_)
        if numbers.min() < 0 or numbers.max() >= LARGEST:
            return np.array([self.add(int(number)) for number in numbers], np.bool_)
        self._grow(int(numbers.max()) // WORD)
        bits = np.frombuffer(self._bits, np.uint8)
        places, marks = numbers // WORD, np.left_shift(1, numbers % WORD).astype(np.uint8)
        is_new: npt.NDArray[np.bool_] = (bits[places] & marks) == 0
        if not (np.diff(numbers) > 0).all():
            first = np.zeros(len(numbers), np.bool_)
            first[np.unique(numbers, return_index=True)[1]] = True
            is_new &= first
        np.bitwise_or.at(bits, places, marks)
        return is_new

    def _grow(self, place: int) -> None:
        lacking = place + 1 - len(self._bits)
        if lacking > 0:
            self._bits.extend(bytes(max(lacking, len(self._bits) // 4)))
