"""What came of holding programs to budgets, in every format."""
