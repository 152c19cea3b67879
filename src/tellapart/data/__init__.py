"""Any table, matrix or file becomes `Samples`, checked once; groups; missing values."""
