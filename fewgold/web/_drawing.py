"""One figure at a time: matplotlib's settings belong to the whole process."""

from threading import RLock

DRAWING = RLock()
