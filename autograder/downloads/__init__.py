"""The built web book as files to take away: one PDF, one EPUB."""
