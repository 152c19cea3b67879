"""Linear functions of q that no support's value exceeds, and the program they make."""
