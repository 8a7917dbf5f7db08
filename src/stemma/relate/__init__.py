"""Claims to relationships: pure; each graded, with the record that proves it."""
