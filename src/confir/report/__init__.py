"""Results for readers: tables, charts, pages."""
