"""Results that are only ever added to: the one package with a database (SQLite or PostgreSQL).

Four tables. A *result* is one judged submission; of one key there is at most one that is final,
and a constraint of the database sees to it, whoever writes. A *standing* says that from here on a
key counts for its student: results of older submissions stay, and count again when the older file
is handed in again. A *run* is one batch, and its end is a row of its own. Triggers refuse to
change or delete a row of any of them.
"""

from autograder.records.batch import Batch
from autograder.records.keys import Key, Stored
from autograder.records.store import Records

__all__ = ["Batch", "Key", "Records", "Stored"]
