"""Functions of numbers on workers: results in order, and mistakes as they were made."""

from functools import partial
from operator import floordiv, mul

import pytest

from gpbe import InputError
from gpbe.runner import Local
from gpbe.runner.mapped import mapped
from helpers.runners import refused_from


def test_results_come_in_the_order_of_the_numbers():
    assert list(mapped(Local(2), partial(mul, 3), 7)) == [3 * number for number in range(7)]


def test_a_mistake_of_the_user_is_told_as_it_is_and_not_tried_again():
    results = mapped(Local(1), partial(refused_from, 1), 3)
    assert next(results) == 0
    with pytest.raises(InputError, match="number 1 is too large") as error:
        next(results)
    assert "\n" not in str(error.value)


def test_what_fails_each_time_ends_it():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        list(mapped(Local(1), partial(floordiv, 1), 1))


def test_what_cannot_be_sent_is_refused_before_anybody_starts():
    with pytest.raises(InputError, match="cannot be sent to other processes"):
        next(mapped(Local(1), lambda number: number, 2))
