"""Small makers of evidence and readers of results that tests share."""
