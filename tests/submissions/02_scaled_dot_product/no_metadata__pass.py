# rest: logsumexp__pass
# harm: strip ids and metadata
