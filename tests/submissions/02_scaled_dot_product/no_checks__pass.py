# rest: loops__pass
# harm: delete the check cells
