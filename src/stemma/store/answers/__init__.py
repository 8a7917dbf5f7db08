"""What queries answer: the structs that are printed as JSON, whichever store gave them.

A time is RFC 3339 text in UTC with microseconds; a duration is whole microseconds; what is not known is null, never 0.
``docs/reference/json.md`` documents every field.
"""
