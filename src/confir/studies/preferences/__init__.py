"""Which system do people prefer, and how sure is that? Bradley-Terry strengths from votes."""
