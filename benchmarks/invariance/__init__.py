"""Which answers stay the same when a table is given in another way."""
