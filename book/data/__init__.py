"""Data that come with the course, so that every chapter runs without a network.

A module reads the files that lie beside it under its own name.
"""
