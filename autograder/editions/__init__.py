"""Editions: from one chapter to book page, student notebook and instructor notebook."""
