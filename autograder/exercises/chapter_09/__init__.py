"""Mixture of experts."""

CHAPTER = "09_mixture_of_experts"

ORDER = (
    "expert_parameters",
    "top_k_route",
    "noisy_logits",
    "load_balancing_loss",
    "expert_capacity",
    "dispatch_slots",
    "mixture_of_experts",
    "balanced_hash",
)
