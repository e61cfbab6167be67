"""Residuals and norms."""

CHAPTER = "07_residuals_and_norms"

ORDER = (
    "standardise",
    "layer_norm",
    "rms_norm",
    "layer_norm_module",
    "rms_norm_module",
    "layer_norm_backward",
    "post_norm_block",
    "pre_norm_block",
)

# Ready-made norms, which would be the answer.
READY_MADE = (
    "torch.nn.functional.layer_norm",
    "torch.nn.functional.rms_norm",
    "torch.nn.functional.batch_norm",
    "torch.nn.functional.instance_norm",
    "torch.nn.functional.group_norm",
    "torch.layer_norm",
    "torch.rms_norm",
    "torch.batch_norm",
    "torch.instance_norm",
    "torch.group_norm",
    "torch.native_layer_norm",
    "torch.native_batch_norm",
    "torch.native_group_norm",
    "torch.nn.LayerNorm",
    "torch.nn.RMSNorm",
    "torch.nn.GroupNorm",
    "torch.nn.BatchNorm1d",
    "torch.nn.InstanceNorm1d",
)
