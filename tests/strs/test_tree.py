"""Best first, and no node missing from the bound."""

import numpy as np
import pytest
from instances import best_value, problem_of

from tellapart.strs.contract import Control
from tellapart.strs.incumbent import Incumbent, Node, TreeSearch, exchange_bounds


class PlainTree(TreeSearch):
    """Leaves are solved, all other nodes keep the bound of their parent."""

    def run(self, start):
        self.push(node(1e6, range(self.problem.n_columns)))
        self.explore()

    def expand(self, opened):
        d = self.problem.d
        if not opened.is_leaf(d):
            return opened.branch(int(np.argmin(opened.forced)), d)
        support = opened.leaf_support(d)
        self.close(self.best.offer_whole(support))
        return ()


def node(bound, variables=(0,)):
    variables = np.array(variables)
    return Node(variables, np.zeros(variables.shape[0], dtype=bool), bound)


def tree(problem=None, **settings):
    problem = problem_of("indefinite", 6, 2) if problem is None else problem
    return PlainTree(Incumbent.of_linear_term(problem, Control()), error=0.0, **settings)


def test_highest_first_and_the_oldest_of_equal_ones():
    search = tree()
    for bound, variable in [(1.0, 4), (3.0, 1), (3.0, 2), (2.0, 3)]:
        search.push(node(bound, [variable]))
    assert [int(search.take().variables[0]) for _ in range(4)] == [1, 2, 3, 4]
    assert search.highest == -np.inf


def test_bound_counts_what_waits_what_is_in_work_and_what_is_closed():
    search = tree()
    assert search.open_bound == -np.inf
    assert search.upper_bound() is None
    search.push(node(3.0))
    search.push(node(2.0))
    assert search.open_bound == search.highest == 3.0
    search.take()
    assert (search.highest, search.open_bound) == (2.0, 3.0)
    search.current = node(2.5)
    assert search.open_bound == 2.5
    search.close(1.0)
    search.close(0.5)
    search.current = None
    assert search.open_bound == 2.0
    search.take()
    search.current = None
    assert search.open_bound == search.upper_bound() == 1.0


def test_a_tree_of_one_s_own_is_searched_to_its_end():
    problem = problem_of("indefinite", 6, 2)
    solution = tree(problem).solve("plain tree", None)
    assert solution.value == pytest.approx(best_value(problem), rel=1e-12)
    assert solution.value <= solution.upper_bound <= solution.value + 1e-9
    assert solution.iterations > 15
    assert not solution.interrupted


def test_a_limit_of_nodes_leaves_the_bound_of_what_is_open():
    solution = tree(most_nodes=3).solve("plain tree", None)
    assert solution.iterations == 3
    assert solution.upper_bound == 1e6


def test_exchanging_a_variable_for_the_last_inside_or_the_first_outside():
    scores = np.array([5.0, 4.0, 1.0, 0.5, 9.0])
    forced = np.array([False, False, False, False, True])
    if_in, if_out = exchange_bounds(20.0, scores, forced, 2)
    assert if_in.tolist() == [np.inf, np.inf, 17.0, 16.5, np.inf]
    assert if_out.tolist() == [16.0, 17.0, np.inf, np.inf, np.inf]
    child, given_up = Node(np.arange(5), forced, 20.0).fix(if_in, if_out, 16.7, 3)
    assert child.variables.tolist() == [0, 1, 2, 4]
    assert child.forced.tolist() == [True, False, False, True]
    assert given_up == 16.5
