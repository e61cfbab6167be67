"""Figures of the book: numbers in, a figure out."""
