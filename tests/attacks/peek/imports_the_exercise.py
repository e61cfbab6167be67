# Takes the reference out of the exercise, and the inputs from the judge.
# attacks: attention_cost
# verdicts: forbidden, exception, wrong

# %%
import importlib


def attention_cost(*args, **options):
    name = "autograder." + "exercises.chapter_02.attention_cost"
    return importlib.import_module(name).EXERCISE.solution(*args, **options)
