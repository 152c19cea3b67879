"""What people see of a result: plots, tables on the console, a card, the HTML page."""
