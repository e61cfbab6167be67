"""How far a student is: the best score of each exercise, kept on the student's own machine."""
