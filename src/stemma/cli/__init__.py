"""The commands: one thin module each, which imports what it needs when it runs, so that help is there at once."""
