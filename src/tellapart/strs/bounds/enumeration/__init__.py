"""All supports of a node, one after the other, in compiled code that skips whole families."""
