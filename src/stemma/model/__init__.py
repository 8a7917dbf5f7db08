"""The language: frozen values and laws, and nothing that reads, writes or waits."""
