"""Which of these is better, and at what cost: several models on the same pairs, in one table and one page."""
