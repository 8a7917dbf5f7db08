"""Records to events: pure; what an agent wrote, in words that all agents share; grade observed."""
