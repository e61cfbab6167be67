"""The exercises: a package for each chapter, a module for each exercise."""
