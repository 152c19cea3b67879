"""Best first, and no node missing from the bound."""

from dataclasses import dataclass

import numpy as np

from tellapart.strs.tree import OpenNodes


@dataclass(frozen=True)
class Node:
    bound: float
    name: str = ""


def test_highest_first_and_the_oldest_of_equal_ones():
    nodes = OpenNodes()
    for bound, name in [(1.0, "low"), (3.0, "first"), (3.0, "second"), (2.0, "middle")]:
        nodes.push(Node(bound, name))
    assert [nodes.take().name for _ in range(4)] == ["first", "second", "middle", "low"]
    assert nodes.highest == -np.inf


def test_bound_counts_what_waits_what_is_in_work_and_what_is_closed():
    nodes = OpenNodes()
    assert nodes.bound == -np.inf
    nodes.push(Node(3.0))
    nodes.push(Node(2.0))
    assert nodes.bound == nodes.highest == 3.0
    nodes.take()
    assert (nodes.highest, nodes.bound) == (2.0, 3.0)
    nodes.current = Node(2.5)
    assert nodes.bound == 2.5
    nodes.close(1.0)
    nodes.close(0.5)
    nodes.current = None
    assert nodes.bound == 2.0
    nodes.take()
    nodes.current = None
    assert nodes.bound == 1.0
