# A notebook handed in as it was given out.
